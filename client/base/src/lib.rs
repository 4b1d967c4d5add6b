//! The common parts of herma's front ends: the command line, the agents and the MCP server.
//!
//! * [`context`]: the options of every command, and connections to the daemon.
//! * [`failure`]: why a command fails, and its exit code.
//! * [`out`]: standard output and standard error, with tables for people and JSON for programs; [`progress`] for long
//!   work.
//! * [`own_file`], [`user_file`], [`settings_file`]: files of herma in the home, files of the user, settings of other
//!   programs. All are written through `herma-disk`.
//! * [`search_path`]: programs as a shell finds them.
//! * [`owner`]: whether the home belongs to this user.
//! * [`diff`]: the difference between two lists.
//! * [`host`]: the MCP server's questions about its agent.
//! * [`kept`]: the form in which other programs' conversations are archived; [`left_out`] describes the rest.
//! * [`interrupt`]: what a program says when it is stopped.

pub mod context;
pub mod diff;
pub mod failure;
pub mod host;
pub mod interrupt;
pub mod kept;
pub mod left_out;
pub mod out;
pub mod own_file;
pub mod owner;
pub mod progress;
pub mod search_path;
pub mod settings_file;
pub mod user_file;

pub use context::{CliContext, Common, Settings};
pub use failure::Failure;
