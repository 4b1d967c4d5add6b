//! The wire protocol of herma: methods with their params and results, the two codecs, framing,
//! limits, versions and the socket path.
//!
//! Invariant: this crate does no I/O, reads no clock and uses no async runtime. It takes bytes as
//! slices and returns vectors, so that the daemon and the blocking client share all of it.
//!
//! * [`method`] is the table of methods; everything else follows from it.
//! * [`frame`] splits a byte stream into frames, for both codecs.
//! * [`jsonrpc`] and [`binary`] turn frames into requests and replies. Params and results are
//!   declared once and are the same JSON in both.
//! * [`error`] is the closed set of errors, [`limits`] the named limits.
//! * [`rendezvous`] finds the home and the socket that a program should use.

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
