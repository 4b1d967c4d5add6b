//! What is between a socket and the services: the only floor that knows wire types.

mod buffers;
pub(crate) mod caller;
mod connection;
mod dispatch;
pub(crate) mod fail;
mod guarded;
pub(crate) mod handler;
mod idempotency;
mod in_flight;
pub mod instance;
mod metrics;
mod order;
pub(crate) mod server;
pub(crate) mod state;
pub mod transport;
