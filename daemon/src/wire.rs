//! The layer between the socket and the services. Only this floor knows the wire types.

mod buffers;
mod connection;
mod dispatch;
mod guarded;
mod handler;
mod idempotency;
mod in_flight;
pub mod instance;
mod memory;
mod metrics;
mod order;
mod rpc_error;
pub(crate) mod server;
mod services;
pub mod transport;
