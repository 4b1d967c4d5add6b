//! `herma hooks …`: has Claude Code or Codex call herma at the events of its sessions.
//!
//! * [`json`] and [`toml`] change a text and leave the rest of it as it is. Both are pure.
//! * [`claude_code`] and [`codex`] say which files of a client say what.
//! * [`wanted`] is what they are to say, [`plan`] all edits of a client; [`edit`] shows, keeps a copy and writes.

mod claude_code;
mod codex;
mod edit;
mod install;
mod json;
mod plan;
mod status;
mod toml;
mod uninstall;
mod wanted;

use std::path::Path;

use clap::Subcommand;
use herma_base::{CliContext, Failure, owner};

use crate::hook::Client;
use wanted::Whose;

#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write the hooks, the MCP server and Claude Code's plugin into a client's settings
    Install(install::Arguments),
    /// Take them out again
    Uninstall(uninstall::Arguments),
    /// Say what is there, whether the client trusts it, and when it ran last
    Status(status::Arguments),
}

/// Returns the programs of herma that a user's settings of a client start. Settings that can't be read have none.
pub fn installed(client: Client) -> Vec<String> {
    let whose = Whose::user(client);
    let found = match client {
        Client::ClaudeCode => claude_code::programs(&whose),
        Client::Codex => codex::programs(&whose),
    };
    let mut programs = found.unwrap_or_default();
    programs.sort_unstable();
    programs.dedup();
    programs
}

/// Returns a program that a user's settings of a client start and that a shell would not find.
pub fn missing(client: Client) -> Option<String> {
    installed(client).into_iter().find(|program| !is_program(program))
}

/// Whether a shell would find this program.
fn is_program(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}

/// Runs `herma hooks …`.
///
/// # Errors
/// A file that can't be used, or an answer that is no.
pub fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    owner::check(&context.place.home)?;
    match command {
        Command::Install(arguments) => install::run(context, arguments),
        Command::Uninstall(arguments) => uninstall::run(context, arguments),
        Command::Status(arguments) => status::run(context, arguments),
    }
}
