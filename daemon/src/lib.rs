//! The daemon: one process that owns what several agents share.
//!
//! [`program::main`] is the program `hermad`, whose `main.rs` the root package builds, next to `herma`. [`run`] serves a
//! listener until it is told to stop; [`instance::lock_home`] makes sure that there is one daemon for a
//! home. The code stands on four floors, and each imports only from
//! those below it (`tests/floors` checks that):
//!
//! * `wire`: server, connections, the order of requests, handlers; wire types live here only;
//! * `service`: what the daemon does: sessions, compression, recall, retention, approvals;
//! * `owners`: the threads and clients that own something: stores, archive, events, summarizers;
//! * `data`: configuration, profiles, errors.
//!
//! Beside them, `sync` is what threads meet at.

mod data;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod logging;
mod owners;
pub mod program;
mod service;
mod sync;
mod wire;

pub use data::config::{self, Config};
pub use wire::server::{Shutdown, run};
pub use wire::{instance, transport};
