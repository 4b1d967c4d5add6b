//! `herma hermes …`: the plugin by which an agent of the Hermes family uses herma.

mod check;
mod config;
mod earlier;
mod folder;
mod install;
mod package;
mod place;
mod probe;
mod python;
mod uninstall;
mod yaml;

#[cfg(feature = "fuzzing")]
pub use yaml::yaml_holds;

use clap::Subcommand;
use herma_base::{CliContext, Failure, owner};

#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write the plugin into the home, and say or do what config.yaml needs
    Install(install::Arguments),
    /// Ask the agent's own code what is really in use; exit code 1 when herma is not
    Check(check::Arguments),
    /// Remove the plugin, and say or do what has to leave config.yaml
    Uninstall(uninstall::Arguments),
}

/// Runs `herma hermes …`.
///
/// # Errors
/// A file that can't be used, or an answer that is no.
pub fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    if !matches!(command, Command::Check(_)) {
        owner::check(&context.place.home)?;
    }
    match command {
        Command::Install(arguments) => install::run(context, arguments),
        Command::Check(arguments) => check::run(context, arguments),
        Command::Uninstall(arguments) => uninstall::run(context, arguments),
    }
}
