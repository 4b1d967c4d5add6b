//! `herma`: the command line, and the MCP server that is one of its commands.

mod cli;
#[cfg(fuzzing)]
pub mod fuzzing;
mod mcp;

pub use cli::main;
