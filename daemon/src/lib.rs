//! The daemon: one process that owns what several agents share.
//!
//! [`run`] serves a listener until it is told to stop; [`instance::claim`] makes
//! sure that there is one daemon for a home. The life of a request:
//! `connection` reads frames, `dispatch` decides when and under which
//! deadline a request runs, `handler` does it (one file per resource), `owner`
//! and [`archivist`] are the threads that own stores and archive, `compression` is
//! how a list becomes a shorter one.

mod approvals;
pub mod archivist;
mod bound_locks;
mod buffers;
mod caller;
mod claim;
mod compression;
pub mod config;
mod connection;
mod dispatch;
mod events;
mod fail;
mod guarded;
mod handler;
mod idempotency;
mod in_flight;
pub mod instance;
mod librarian;
pub mod logging;
mod metrics;
mod order;
mod owner;
mod retention;
mod server;
mod session;
mod state;
mod streaks;
mod summarizer;
pub mod transport;

pub use config::Config;
pub use server::run;
