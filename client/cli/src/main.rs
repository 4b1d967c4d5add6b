//! `herma`: the command line, and the MCP server that is one of its commands.

mod cli;
mod mcp;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
