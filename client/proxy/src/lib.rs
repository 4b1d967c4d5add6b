//! A proxy between an agent and its model. It listens on loopback and forwards everything unchanged as it comes. The
//! one exception is a request for the summary of a compaction, which herma may answer. What passes through is shown to
//! a [`Watcher`].
//!
//! * [`api`]: reads the requests and answers of three APIs, and builds answers. No I/O.
//! * [`conversation`]: tells which conversation a request belongs to, and what is new in it. No I/O.
//! * [`codex`], [`summaries`]: recognize requests for a summary. No I/O.
//! * [`server`]: checks requests and answers or forwards them.
//! * `client`: the connection of a client.
//! * `forward`: sends requests to the model and returns its answers.

pub mod api;
mod client;
pub mod codex;
pub mod conversation;
mod forward;
pub mod server;
pub mod summaries;
mod tap;

pub use server::{Exchange, Proxy, ProxyError, Settings, Watcher};
