//! `herma output gc`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::protocol::output::shelf::{Expired, GcParams, GcResult};

use crate::output::list;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The daemon does it by itself in the course of time; `ttl` and `quota` under [output] in the configuration say what is too old and too much.\n\nExamples:\n  herma output gc --dry-run\n  herma output gc"
)]
pub(crate) struct Arguments {
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let result = context.connect()?.output_gc(GcParams { dry_run: Some(arguments.dry_run) })?;
    let way = if arguments.dry_run { GcMode::DryRun } else { GcMode::Removed };
    out::show(context.common, &result, |result| describe(result, way))
}

/// Whether the outputs were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GcMode {
    Removed,
    DryRun,
}

fn describe(result: &GcResult, way: GcMode) -> String {
    let files = usize::try_from(result.files).unwrap_or(usize::MAX);
    let stays = format!("{} kept, {}", out::count_noun(files, "output", "outputs"), out::size(result.bytes));
    let (nothing, freed) = match way {
        GcMode::Removed => ("nothing was removed", "freed"),
        GcMode::DryRun => ("nothing would be removed", "would free"),
    };
    if result.expired.is_empty() {
        return format!("{nothing}; {stays}\n");
    }
    let outputs = out::count_noun(result.expired.len(), "output", "outputs");
    format!("{}{outputs}, {freed} {}; {stays}\n", table(&result.expired), out::size(result.freed))
}

fn table(expired: &[Expired]) -> String {
    let cells = |row: &Expired| {
        [
            row.handle.clone(),
            list::named(&row.session),
            list::named(&row.tool),
            list::named(&row.id),
            out::size(row.bytes),
            list::reason(row.reason).to_owned(),
        ]
    };
    let rows: Vec<[String; 6]> = expired.iter().map(cells).collect();
    let sides = [Align::Left, Align::Left, Align::Left, Align::Left, Align::Right, Align::Left];
    out::sided(["handle", "session", "tool", "id", "size", "reason"], sides, &rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::output::shelf::Reason;

    use super::*;

    #[test]
    fn what_went_is_told_with_why_and_how_much_is_free() {
        let expired = Expired {
            handle: "out_1".into(),
            session: "s".into(),
            tool: "terminal".into(),
            id: "call_1".into(),
            bytes: 1536,
            reason: Reason::Ttl,
        };
        let result = GcResult { expired: vec![expired], freed: 1536, files: 1, bytes: 2048 };
        let rows =
            "handle  session  tool      id         size  reason\nout_1   s        terminal  call_1  1.5 KiB  too old\n";
        for (result, way, expected) in [
            (&result, GcMode::Removed, format!("{rows}1 output, freed 1.5 KiB; 1 output kept, 2.0 KiB\n")),
            (&result, GcMode::DryRun, format!("{rows}1 output, would free 1.5 KiB; 1 output kept, 2.0 KiB\n")),
            (&GcResult::default(), GcMode::Removed, "nothing was removed; 0 outputs kept, 0 B\n".into()),
            (&GcResult::default(), GcMode::DryRun, "nothing would be removed; 0 outputs kept, 0 B\n".into()),
        ] {
            assert_eq!(describe(result, way), expected);
        }
    }
}
