//! `herma hooks …`: makes an agent call herma at the events of its sessions.

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
    /// Write the hooks, the MCP server and the plugin into an agent's settings
    Install(install::Arguments),
    /// Remove the hooks, the MCP server and the plugin from an agent's settings
    Uninstall(uninstall::Arguments),
    /// Show what is installed, whether the agent trusts it, and when it last ran
    Status(status::Arguments),
}

// An agent and the scope of its settings.
#[derive(Debug, Clone, clap::Args)]
struct Target {
    /// The agent
    #[arg(value_parser = known::parser())]
    agent: &'static dyn Agent,
    /// Use the settings of this folder's project, for you alone, instead of your own for all projects
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
/// A file can't be used, or the answer is negative.
pub fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    owner::check(&context.place.home)?;
    match command {
        Command::Install(arguments) => install::run(context, arguments),
        Command::Uninstall(arguments) => uninstall::run(context, arguments),
        Command::Status(arguments) => status::run(context, arguments),
    }
}
