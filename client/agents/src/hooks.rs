//! `herma hooks …`: has Claude Code or Codex call herma at the events of its sessions.

mod install;
mod status;
mod uninstall;

use clap::Subcommand;
use herma_base::{CliContext, Failure, owner};

use crate::agent::Agent;
use crate::known;
use crate::settings::wanted::Scope;

#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write the hooks, the MCP server and Claude Code's plugin into an agent's settings
    Install(install::Arguments),
    /// Take them out again
    Uninstall(uninstall::Arguments),
    /// Say what is there, whether the agent trusts it, and when it ran last
    Status(status::Arguments),
}

// An agent, and whose settings of it.
#[derive(Debug, Clone, clap::Args)]
struct Target {
    /// The agent
    #[arg(value_parser = known::parser())]
    agent: &'static dyn Agent,
    /// Settings of this folder's project, for you alone, instead of your own for all projects
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Your own settings, for all projects (the default)
    #[arg(long)]
    user: bool,
}

impl Target {
    const fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }
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
