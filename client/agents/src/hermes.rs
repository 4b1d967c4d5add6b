//! `herma hermes …`: the plugin with which an agent of the Hermes family uses herma.

mod check;
mod config;
mod folder;
mod install;
mod needs;
mod old_plugin;
mod package;
mod place;
mod probe;
mod python;
mod undo;
mod uninstall;
mod yaml;

#[cfg(feature = "fuzzing")]
pub use yaml::yaml_holds;

use clap::Subcommand;
use herma_base::{CliContext, Failure, owner};
use herma_client::Place;

#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write the plugin into the home, and show or make the changes that config.yaml needs
    Install(install::Arguments),
    /// Ask the agent's own code whether it uses herma; exit code 1 if it does not
    Check(check::Arguments),
    /// Remove the plugin, and show or make the changes that config.yaml needs
    Uninstall(uninstall::Arguments),
}

/// Runs `herma hermes …`. Without a named home it is about the agent's own, also if herma keeps its data elsewhere.
///
/// # Errors
/// A file can't be used, or the answer is negative.
pub fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    let common = context.common;
    let context = CliContext { common, place: Place::find(Some(context.hermes_home()), common.socket.clone())? };
    if !matches!(command, Command::Check(_)) {
        owner::check(&context.place.home)?;
    }
    match command {
        Command::Install(arguments) => install::run(&context, arguments),
        Command::Check(arguments) => check::run(&context, arguments),
        Command::Uninstall(arguments) => uninstall::run(&context, arguments),
    }
}
