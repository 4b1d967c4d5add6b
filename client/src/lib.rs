//! A blocking client of herma. It finds the daemon of a home, starts it if it is not running, and has one function per
//! method, with typed params and results.
//!
//! ```no_run
//! use herma_client::protocol::memory::{AddParams, Target};
//! use herma_client::protocol::session::OpenParams;
//! use herma_client::{Codec, Place, connect_or_spawn};
//!
//! fn main() -> Result<(), herma_client::ClientError> {
//!     let mut herma = connect_or_spawn(&Place::from_env()?, Codec::Bincode)?;
//!     let written = herma.memory_add(AddParams {
//!         target: Target::User,
//!         content: "prefers short answers".into(),
//!         session: None,
//!         agent: Some("example".into()),
//!         expected_revision: None,
//!     })?;
//!     // A refused memory write returns its reason in the result, because a model reads it.
//!     println!("{}", written.message.or(written.error).unwrap_or_default());
//!
//!     let opened = herma.session_open(OpenParams { session: "s-1".into(), ..OpenParams::default() })?;
//!     println!("{}", opened.snapshot.user.unwrap_or_default());
//!     Ok(())
//! }
//! ```
//!
//! # Where the daemon is
//!
//! A [`Place`] is a home and its socket. Flags and the environment determine both, by the same rules as in the daemon.
//! [`connect`] connects to a running daemon, and [`connect_or_spawn`] starts one first if needed. [`find_daemon`]
//! returns the program it starts. The daemon keeps running when the program that started it ends.
//!
//! # Calls
//!
//! [`protocol`] and docs/protocol.md of the project describe each method's params, result and guarantees. A [`Client`]
//! is one connection and makes one call at a time. Threads that must not wait for each other need one each. A client is
//! [`Send`]; an async program calls it in a blocking task.
//!
//! # When a call fails
//!
//! [`ClientError::Rpc`] is the daemon's own error: its [`kind`](protocol::ErrorKind) is for programs, its message for
//! people. [`ErrorKind::retry`](protocol::ErrorKind::retry) says whether the same call can succeed later. After
//! [`ClientError::Lost`] and [`ClientError::TimedOut`] it is unknown whether the daemon carried out the call. A lost
//! connection can't be used again. A write with a key from [`Client::set_idempotency_key`] can be repeated with the
//! same key within ten minutes, also on a new connection. The daemon does it once, as long as it is the same daemon.
//!
//! # Changes as they happen
//!
//! After [`Client::subscribe`], [`Client::next_notification`] waits for the next notification. Use a separate
//! connection for it.

mod client;
mod error;
mod place;
mod spawn;
mod transport;

pub use client::Client;
pub use error::ClientError;
pub use herma_protocol as protocol;
pub use herma_protocol::frame::Codec;
pub use place::Place;
pub use spawn::{Spawned, connect, connect_or_spawn, find_daemon, spawn};
