//! `herma hooks uninstall`.

use herma_base::{CliContext, Failure};

use super::Target;
use super::install::{ConfirmMode, carry_out, report};
use crate::hook;
use crate::settings::edit::Edit;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Takes out what `herma hooks install` put in, and nothing else: a file that was not changed since is byte for byte\nwhat it was. Sessions and memories stay in herma.\n\nExample:\n  herma hooks uninstall codex --dry-run"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    confirm: ConfirmMode,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (agent, scope) = (arguments.target.agent, arguments.target.scope());
    let edits: Vec<Edit> = agent.edits(scope, None)?.into_iter().map(Edit::undone).collect();
    let done = carry_out(context, &edits, arguments.confirm)?;
    if !arguments.confirm.dry_run {
        edits.iter().for_each(Edit::clear_folders);
        hook::forget_runs(&context.place.home, agent);
    }
    report(context, &done, arguments.confirm.dry_run)
}
