//! A proxy between an agent client and its model: on loopback, and everything goes through unchanged as it comes,
//! except for the request that asks for the summary of a compaction, which may be answered here.
//!
//! * [`codex`]: which request of Codex that is, and how it is answered. Pure.
//! * [`server`]: who may ask, and what becomes of a request.
//! * `forward`: the way to the model and back.

pub mod codex;
mod forward;
pub mod server;

pub use server::{Proxy, ProxyError, Settings};
