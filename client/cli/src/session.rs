//! `herma session …`.

mod append;
mod chain;
mod life;
mod list;
mod lock;
mod read;
mod remove;
mod row;
mod threads;

use clap::Subcommand;
use herma_base::{CliContext, Failure};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Open a session: freeze both stores for it, or resume it
    Open(life::Open),
    /// Print the frozen blocks of a session
    Snapshot(life::Named),
    /// Freeze both stores again for a session, and print the blocks
    #[command(
        after_help = "The session sees what was written since it was opened; its prompt cache is lost.\n\nExample:\n  herma session refresh my-session"
    )]
    Refresh(life::Named),
    /// Set the title, model, window, folder and branch of a session
    Update(life::Update),
    /// Close a session
    Close(life::Close),
    /// List the sessions, newest first; with words only those that have them in title, folder or branch
    #[command(alias = "find", alias = "ls")]
    List(list::Arguments),
    /// Read a conversation: what was said, with calls and results folded
    Read(read::Arguments),
    /// Show a session, or its list at a generation
    Show(row::Show),
    /// Print the newest session of a chain of compressions
    #[command(
        after_help = "It is the session itself when it was not compressed, or is unknown.\n\nExample:\n  herma session tip my-session"
    )]
    Tip(life::Named),
    /// Print the session to continue: itself, or its first descendant with messages
    #[command(after_help = "Example:\n  herma session resume-target my-session")]
    ResumeTarget(life::Named),
    /// Print the title for the continuation of a session
    NextTitle(chain::NextTitle),
    /// Archive messages of a session, so that recall finds them
    Append(append::Arguments),
    /// Lock a session for a compression; exit code 1 if another holder has the lock
    Lock(lock::Lock),
    /// Release a lock; exit code 1 if the holder did not have it
    Unlock(lock::Unlock),
    /// Print the holder of a session's lock; exit code 1 if there is none
    LockHolder(life::Named),
    /// Remove sessions for good, with their messages and outputs
    Rm(remove::Arguments),
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Open(arguments) => life::open(context, arguments),
        Command::Snapshot(arguments) => life::snapshot(context, arguments),
        Command::Refresh(arguments) => life::refresh(context, arguments),
        Command::Update(arguments) => life::update(context, arguments),
        Command::Close(arguments) => life::close(context, arguments),
        Command::List(arguments) => list::run(context, arguments),
        Command::Read(arguments) => read::run(context, arguments),
        Command::Show(arguments) => row::show(context, arguments),
        Command::Tip(arguments) => chain::tip(context, arguments),
        Command::ResumeTarget(arguments) => chain::resume_target(context, arguments),
        Command::NextTitle(arguments) => chain::next_title(context, arguments),
        Command::Append(arguments) => append::run(context, arguments),
        Command::Lock(arguments) => lock::lock(context, arguments),
        Command::Unlock(arguments) => lock::unlock(context, arguments),
        Command::LockHolder(arguments) => lock::holder(context, arguments),
        Command::Rm(arguments) => remove::run(context, arguments),
    }
}
