//! `herma`: the command line, and two of its commands that programs call: the MCP server, and the hooks of agent clients.

mod cli;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hook;
mod kept;
mod mcp;

pub use cli::main;
