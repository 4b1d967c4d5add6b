//! What is said on herma's wire: methods, their params and results, the two
//! codecs, framing, limits, versions and where the socket is.
//!
//! Invariant: nothing here does I/O, reads a clock or knows an async runtime.
//! Bytes come in as slices and go out as vectors, so that the daemon and the
//! blocking client share every line.
//!
//! * [`method`] is the table of methods; everything else follows from it.
//! * [`frame`] cuts a byte stream into frames, for both codecs.
//! * [`jsonrpc`] and [`binary`] turn frames into requests and replies; params and results
//!   are the same JSON in both, declared once.
//! * [`error`] is the closed set of errors, [`limits`] the named limits.
//! * [`rendezvous`] says which home and which socket a program means.

mod attached;
pub mod binary;
pub mod constraint;
pub mod context;
pub mod daemon;
mod envelope;
pub mod error;
pub mod files;
pub mod frame;
pub mod guard;
pub mod header;
mod incoming;
pub mod json_text;
pub mod jsonrpc;
pub mod ledger;
pub mod limits;
pub mod memory;
pub mod method;
pub mod nearest;
pub mod notification;
pub mod output;
mod params;
mod prepared;
pub mod profile;
pub mod recall;
pub mod rendezvous;
#[cfg(test)]
mod schema;
pub mod session;
pub mod shared;
pub mod trajectory;
pub mod value;
pub mod version;
pub mod visible;

pub use error::{ErrorKind, Fault, RpcError};
pub use header::Header;
pub use incoming::Incoming;
pub use json_text::Json;
pub use method::{Method, Reply, Request};
pub use notification::{Notification, Topic};
pub use prepared::Prepared;
