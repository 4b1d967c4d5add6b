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

use super::exit::Failure;
use super::{Session, owner};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Write the plugin into the home, and say or do what config.yaml needs
    Install(install::Arguments),
    /// Ask the agent's own code what is really in use; exit code 1 when herma is not
    Check(check::Arguments),
    /// Remove the plugin, and say or do what has to leave config.yaml
    Uninstall(uninstall::Arguments),
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    if !matches!(command, Command::Check(_)) {
        owner::check(&session.place.home)?;
    }
    match command {
        Command::Install(arguments) => install::run(session, arguments),
        Command::Check(arguments) => check::run(session, arguments),
        Command::Uninstall(arguments) => uninstall::run(session, arguments),
    }
}
