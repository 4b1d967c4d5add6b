//! `herma files show`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::files::ReadParams;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The text is printed as it is; a terminal is shown control characters instead of obeying them.\n\nExamples:\n  herma files show notes.md\n  herma files show notes.md --revision 12\n  herma files show notes.md --raw"
)]
pub(crate) struct Arguments {
    /// The file: notes.md or /memories/notes.md
    path: String,
    /// Print the file at this revision
    #[arg(long, value_name = "N")]
    revision: Option<u64>,
    /// Print the file even if the guard blocks it
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params =
        ReadParams { path: super::path(&arguments.path), revision: arguments.revision, raw: Some(arguments.raw) };
    let result = context.connect()?.files_read(params)?;
    if context.common.json { out::json(&result) } else { out::text(&result.text) }
}
