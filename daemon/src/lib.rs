//! The daemon: one process that owns what several agents share.
//!
//! [`program::main`] is the program `hermad`, which the root package builds next to `herma`. [`run`] serves a
//! listener until it gets a signal to stop. [`instance::lock_home`] makes sure that a home has only one daemon.
//!
//! The code has four floors. Each imports only from those below it (`tests/floors` checks that):
//!
//! * `wire`: server, connections, the order of requests, handlers; wire types live here only;
//! * `service`: what the daemon does: sessions, compression, recall, retention, approvals;
//! * `owners`: the threads and clients that own a resource: stores, archive, events, summarizers;
//! * `data`: configuration, profiles, errors.
//!
//! In addition, `sync` contains the locks, channels and counters of the threads.

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
