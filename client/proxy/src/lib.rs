//! A proxy between an agent and its model. It listens on loopback and forwards everything unchanged as it comes. The
//! one exception is a request for the summary of a compaction, which herma may answer.
//!
//! * [`codex`]: recognizes that request of Codex and builds the answer. No I/O.
//! * [`server`]: checks requests and answers or forwards them.
//! * `forward`: sends requests to the model and returns its answers.

pub mod codex;
mod forward;
pub mod server;

pub use server::{Proxy, ProxyError, Settings};
