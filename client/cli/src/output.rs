//! `herma output …`.

mod admit;
mod gc;
mod list;
mod preview;
mod read;
mod remove;
mod search;

use clap::Subcommand;
use herma_base::{CliContext, Failure};

pub(super) use list::reason;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Admit a tool result: print the text for the conversation
    Admit(admit::Arguments),
    /// List the kept outputs, newest first
    List(list::Arguments),
    /// Read a spilled output, page by page
    Read(read::Arguments),
    /// Search for a text in spilled outputs
    Search(search::Arguments),
    /// Remove spilled outputs for good
    Rm(remove::Arguments),
    /// Remove outputs that are too old or over the quota
    Gc(gc::Arguments),
    /// Print the preview of a text
    Preview(preview::Arguments),
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Admit(arguments) => admit::run(context, arguments),
        Command::List(arguments) => list::run(context, arguments),
        Command::Read(arguments) => read::run(context, arguments),
        Command::Search(arguments) => search::run(context, arguments),
        Command::Rm(arguments) => remove::run(context, arguments),
        Command::Gc(arguments) => gc::run(context, arguments),
        Command::Preview(arguments) => preview::run(context, arguments),
    }
}
