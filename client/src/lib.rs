//! A blocking client of herma: it finds the daemon of a home, starts it when nobody
//! has, and has one function for each method, with typed params and results.
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
//!     // A memory that refuses a write says why in its result, for a model reads it.
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
//! A [`Place`] is a home and its socket, found in flags and the environment by the rules
//! that the daemon itself follows. [`connect`] asks for a daemon that runs,
//! [`connect_or_spawn`] starts one first; [`find_daemon`] says which program that is. A
//! daemon goes on when the program that started it ends.
//!
//! # Calls
//!
//! What a method takes, answers and promises is in [`protocol`], and in docs/protocol.md of
//! the project. A [`Client`] is one connection and does one call after the other; threads
//! that shall not wait for each other have one each. It is [`Send`], and an async program
//! calls it in a blocking task.
//!
//! # When a call fails
//!
//! [`ClientError::Rpc`] is the daemon's own answer: its [`kind`](protocol::ErrorKind) is for
//! programs, its message for people, and
//! [`ErrorKind::retry`](protocol::ErrorKind::retry) says whether the same call can succeed
//! later. After [`ClientError::Lost`] and [`ClientError::TimedOut`] nobody knows whether the
//! call was carried out; a connection that was lost is of no use any more. A write that was
//! named with [`Client::set_idempotency_key`] can be repeated with the same key within ten
//! minutes, on a new connection too, and is done once, as long as it is the same daemon.
//!
//! # Changes as they happen
//!
//! After [`Client::subscribe`], [`Client::next_notification`] waits for what happened. A
//! connection of its own is the best place for it.

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
