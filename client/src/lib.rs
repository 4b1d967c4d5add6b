//! A blocking client of herma: one function for each method, with typed results.
//!
//! ```no_run
//! use herma_client::{Client, Place};
//! use herma_client::protocol::memory::{AddParams, Target};
//!
//! let mut client = Client::connect(&Place::from_env()?)?;
//! let written = client.memory_add(AddParams {
//!     target: Target::User,
//!     content: "prefers short answers".into(),
//!     session: None,
//!     agent: Some("example".into()),
//!     expected_revision: None,
//! })?;
//! assert!(written.success || written.error.is_some());
//! # Ok::<(), herma_client::ClientError>(())
//! ```

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
