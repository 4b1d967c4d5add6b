//! `herma`: the command line, a file for each resource, with the names of the daemon's handlers.
//!
//! The agents, the MCP server and what all front ends need are crates of their own.

mod compress;
mod config;
mod constraint;
mod context;
mod daemon;
mod doctor;
mod files;
mod guard;
mod import;
mod lines;
mod memory;
mod moment;
mod named;
mod orphans;
mod output;
mod profile;
mod program;
mod recall;
mod service;
mod session;
mod several;
mod shared;
mod top;
mod trajectory;
mod usage;
mod watch;

#[cfg(feature = "fuzzing")]
pub use {memory::import_holds, trajectory::recorded_holds};

pub use program::main;
