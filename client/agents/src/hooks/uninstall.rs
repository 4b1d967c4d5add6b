//! `herma hooks uninstall`.

use herma_base::{CliContext, Failure};

use super::edit::Edit;
use super::install::{Care, carry_out, tell};
use super::plan::edits;
use super::wanted::Whose;
use crate::hook;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Takes out what `herma hooks install` put in, and nothing else: a file that was not changed since is byte for byte\nwhat it was. Sessions and memories stay in herma.\n\nExample:\n  herma hooks uninstall codex --dry-run"
)]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    care: Care,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let edits: Vec<Edit> = edits(&arguments.whose, None)?.into_iter().map(Edit::taken_back).collect();
    let done = carry_out(context, &edits, arguments.care)?;
    if !arguments.care.dry_run {
        edits.iter().for_each(Edit::clear_folders);
        hook::forget_runs(&context.place.home, arguments.whose.client);
    }
    tell(context, &done, arguments.care.dry_run)
}
