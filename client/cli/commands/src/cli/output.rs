//! `herma output …`.

mod admit;
mod gc;
mod list;
mod preview;
mod read;
mod remove;
mod search;

use clap::Subcommand;

use super::Session;
use super::exit::Failure;

pub(super) use list::reason;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Admit a tool result: print what goes into the conversation
    Admit(admit::Arguments),
    /// List the outputs that are kept, newest first
    List(list::Arguments),
    /// Read a spilled output, page by page
    Read(read::Arguments),
    /// Look for a text in spilled outputs
    Search(search::Arguments),
    /// Remove spilled outputs for good
    Rm(remove::Arguments),
    /// Let go of what is too old or too much
    Gc(gc::Arguments),
    /// Print the preview of a text
    Preview(preview::Arguments),
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Admit(arguments) => admit::run(session, arguments),
        Command::List(arguments) => list::run(session, arguments),
        Command::Read(arguments) => read::run(session, arguments),
        Command::Search(arguments) => search::run(session, arguments),
        Command::Rm(arguments) => remove::run(session, arguments),
        Command::Gc(arguments) => gc::run(session, arguments),
        Command::Preview(arguments) => preview::run(session, arguments),
    }
}
