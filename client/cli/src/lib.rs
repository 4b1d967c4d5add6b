//! `herma`: the command line. Each resource has a file with the name of the daemon's handlers.
//!
//! The agents, the MCP server and the common parts of all front ends are separate crates.

mod backup;
mod capture;
mod completion;
mod compress;
mod config;
mod constraint;
mod context;
mod continuation;
mod daemon;
mod doctor;
mod files;
mod guard;
mod import;
mod lines;
mod log;
mod memory;
mod moment;
mod names;
mod orphans;
mod output;
mod overview;
mod profile;
mod program;
mod recall;
mod scrub;
mod service;
mod session;
mod setup;
mod several;
mod shared;
mod top;
mod trajectory;
mod upgrade;
mod usage;
mod watch;

#[cfg(feature = "fuzzing")]
pub use {memory::import_holds, trajectory::recorded_holds};

pub use program::main;
