//! `herma files …`: memory files.

mod list;
mod log;
mod put_back;
mod show;

use clap::Subcommand;
use herma_base::{CliContext, Failure};

/// The first folder of every memory file's path.
const ROOT: &str = "/memories";

#[derive(Debug, Subcommand)]
#[command(
    defer = true,
    after_help = "The files lie in herma/files/PROFILE in the home. To change one, open it in an editor there:\nthe change is found at the next look, and is in the journal like every other.\n\nExamples:\n  herma files list\n  herma files show notes.md\n  herma files log --diff\n  $EDITOR ~/.hermes/herma/files/default/notes.md"
)]
pub(super) enum Command {
    /// List the files, their revisions and the free space
    List(list::Arguments),
    /// Print a file, as it is now or at a revision
    Show(show::Arguments),
    /// List the changes, newest first
    Log(log::Arguments),
    /// Undo the newest change
    Undo(put_back::Undo),
    /// Restore files to a revision
    Restore(put_back::Restore),
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::run(context, arguments),
        Command::Show(arguments) => show::run(context, arguments),
        Command::Log(arguments) => log::run(context, arguments),
        Command::Undo(arguments) => put_back::undo(context, arguments),
        Command::Restore(arguments) => put_back::restore(context, arguments),
    }
}

/// Returns a path in the form of the protocol. The user may leave out its root.
fn path(said: &str) -> String {
    if said == ROOT || said.starts_with("/memories/") {
        return said.to_owned();
    }
    match said.trim_start_matches('/') {
        "" => ROOT.to_owned(),
        below => format!("{ROOT}/{below}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_said_without_its_root() {
        for (said, meant) in [
            ("a.md", "/memories/a.md"),
            ("/memories/a.md", "/memories/a.md"),
            ("/memories", "/memories"),
            ("/", "/memories"),
            ("/a/b", "/memories/a/b"),
            ("../x", "/memories/../x"),
            ("/memoriesx", "/memories/memoriesx"),
        ] {
            assert_eq!(path(said), meant);
        }
    }
}
