//! `herma memory …`.

mod adopt;
mod approval;
mod change;
mod edit;
mod editor;
mod entries;
mod export;
mod import;
mod list;
mod log;
mod named;
mod operations;
mod revision;
mod steps;
mod undo;
mod view;
mod write;

#[cfg(feature = "fuzzing")]
pub use import::import_holds;

pub(super) use adopt::{count as count_notes, files as files_with_notes};
use clap::{Subcommand, ValueEnum};
use herma_client::protocol::memory::Target;
pub(super) use log::{change_summary, who};
pub(super) use steps::{Step, steps};

use herma_base::CliContext;
use herma_base::Failure;

/// One of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Store {
    /// MEMORY.md: the agent's own notes
    Memory,
    /// USER.md: who the user is
    User,
}

impl From<Store> for Target {
    fn from(store: Store) -> Self {
        match store {
            Store::Memory => Self::Memory,
            Store::User => Self::User,
        }
    }
}

/// Returns the store's name on the command line.
pub(super) const fn name(target: Target) -> &'static str {
    match target {
        Target::Memory => "memory",
        Target::User => "user",
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// List the entries
    List(list::List),
    /// Add an entry
    Add(write::Add),
    /// Replace an entry with another text
    Replace(write::Replace),
    /// Remove an entry
    Remove(write::Remove),
    /// Apply several operations, all or none
    Batch(write::Batch),
    /// Offer what the agents' own instructions say as a beginning
    Adopt(adopt::Arguments),
    /// Edit a store in an editor
    Edit(edit::Arguments),
    /// List the changes of the stores, newest first
    Log(log::Arguments),
    /// Print a store as it was at a revision
    Show(revision::Show),
    /// Compare two revisions of a store
    Diff(revision::Diff),
    /// Undo the newest change of a store
    Undo(undo::Undo),
    /// Restore a store to an earlier revision
    #[command(
        after_help = "The text of that revision becomes a new revision. `herma memory show` prints one.\n\nExample:\n  herma memory restore memory 12"
    )]
    Restore(undo::OfRevision),
    /// Undo one change of a store, and keep the later ones
    #[command(
        after_help = "Entries that the change removed are back, entries that it added are gone, and later changes stay. It is refused if a later change replaced or removed an entry that it added.\n\nExample:\n  herma memory revert memory 12"
    )]
    Revert(undo::OfRevision),
    /// Print the stores in a format that import reads
    Export(export::Arguments),
    /// Import entries from a file
    Import(import::Arguments),
    /// List the writes that wait for approval
    Pending(approval::Pending),
    /// List the writes that wait here until the shared database is back
    Queued(approval::Queued),
    /// Approve writes that wait for approval
    Approve(approval::Approve),
    /// Reject writes that wait for approval
    Reject(approval::Reject),
    /// Carry out a model's function call
    Tool(write::Tool),
    /// Print the tool's function schema and the paragraph for the system prompt
    Schema,
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::list(context, arguments),
        Command::Add(arguments) => write::add(context, arguments),
        Command::Replace(arguments) => write::replace(context, arguments),
        Command::Remove(arguments) => write::remove(context, arguments),
        Command::Batch(arguments) => write::batch(context, arguments),
        Command::Adopt(arguments) => adopt::run(context, arguments),
        Command::Edit(arguments) => edit::run(context, arguments),
        Command::Log(arguments) => log::run(context, arguments),
        Command::Show(arguments) => revision::show(context, arguments),
        Command::Diff(arguments) => revision::diff(context, arguments),
        Command::Undo(arguments) => undo::undo(context, arguments),
        Command::Restore(arguments) => undo::restore(context, arguments),
        Command::Revert(arguments) => undo::revert(context, arguments),
        Command::Export(arguments) => export::run(context, arguments),
        Command::Import(arguments) => import::run(context, arguments),
        Command::Pending(arguments) => approval::pending(context, arguments),
        Command::Queued(arguments) => approval::queued(context, arguments),
        Command::Approve(arguments) => approval::approve(context, arguments),
        Command::Reject(arguments) => approval::reject(context, arguments),
        Command::Tool(arguments) => write::tool(context, arguments),
        Command::Schema => list::schema(context),
    }
}
