//! `herma files undo`, `herma files restore`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::files::{ChangeResult, RestoreParams, UndoParams};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is taken back becomes a new revision, so that a second undo brings the change back; `herma files restore` goes further. A change of several files is taken back as a whole.\n\nExamples:\n  herma files undo\n  herma files undo notes.md"
)]
pub(crate) struct Undo {
    /// Undo the newest change of this file, or in this folder; of all files when left out
    path: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "`herma files log` lists the revisions, `herma files show --revision` prints a file as it was.\n\nExamples:\n  herma files restore 12\n  herma files restore 12 notes.md"
)]
pub(crate) struct Restore {
    /// The revision
    revision: u64,
    /// Only this file, or the files in this folder; all files when left out
    path: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
struct Writing {
    /// Refuse unless the file, or all of them, are at this revision
    #[arg(long, value_name = "N")]
    expected_revision: Option<u64>,
    /// The name of the writer
    #[arg(long, value_name = "NAME", default_value = "cli")]
    agent: String,
}

pub(super) fn undo(context: &CliContext<'_>, arguments: &Undo) -> Result<(), Failure> {
    let result = context.connect()?.files_undo(UndoParams {
        path: arguments.path.as_deref().map(super::path),
        expected_revision: arguments.writing.expected_revision,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
    })?;
    describe(context, &result)
}

pub(super) fn restore(context: &CliContext<'_>, arguments: &Restore) -> Result<(), Failure> {
    let result = context.connect()?.files_restore(RestoreParams {
        revision: arguments.revision,
        path: arguments.path.as_deref().map(super::path),
        expected_revision: arguments.writing.expected_revision,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
    })?;
    describe(context, &result)
}

fn describe(context: &CliContext<'_>, result: &ChangeResult) -> Result<(), Failure> {
    out::show(context.common, result, |result| {
        if result.changed {
            format!("{} This is revision {}.", result.message, result.revision)
        } else {
            format!("Nothing had to be changed; the files are at revision {}.", result.revision)
        }
    })
}
