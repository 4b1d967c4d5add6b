//! `herma`: the command line, and three of its commands that programs call: the MCP server, the hooks of agent clients, and
//! the proxy between one and its model.

mod cli;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hook;
mod kept;
mod mcp;
mod proxy;

pub use cli::main;
