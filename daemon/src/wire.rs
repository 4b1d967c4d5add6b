//! What is between a socket and the services: the only floor that knows wire types.

mod buffers;
pub(crate) mod caller;
mod connection;
mod dispatch;
mod guarded;
pub(crate) mod handler;
mod idempotency;
mod in_flight;
pub mod instance;
mod metrics;
mod order;
mod rpc_error;
pub(crate) mod server;
pub(crate) mod state;
pub mod transport;
