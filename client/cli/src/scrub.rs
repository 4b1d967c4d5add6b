//! `herma scrub`.

use std::collections::BTreeMap;
use std::time::Duration;

use herma_base::progress::Progress;
use herma_base::{CliContext, Failure, interrupt, out};
use herma_client::protocol::guard::SecretCount;
use herma_client::protocol::guard::scrub::{Left, ScrubParams};
use serde::Serialize;

// Masks the secrets in what was kept before.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It looks at every message, output, memory, journal and summary of the home, by the rules of `herma guard redact`.\nSecrets are masked, and what is in <private>…</private> goes. Then it searches herma's own files for all that it\nfound, and says where anything is left. There is no undo. What hooks and imports keep is masked before it is stored,\nso this is for what other programs sent, and for what was kept with archive.redact = false or by an older herma.\n\nIt can be stopped and begun again at any time. Compressions of the changed sessions can't be undone any more.\n\nExit codes: 0 nothing is left; 1 something is left, which is listed; 2 wrong arguments; 3 no daemon answers.\n\nExamples:\n  herma scrub --dry-run\n  herma scrub --yes --json | jq .left"
)]
pub(super) struct Arguments {
    /// Count the secrets, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// How long one part of the work may take: the texts of a large archive are one part, and its files another.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// The sums of a run.
#[derive(Debug, Default, Serialize)]
struct Report {
    dry_run: bool,
    /// The changed texts by stage.
    changed: BTreeMap<String, u64>,
    /// The secrets by kind.
    secrets: BTreeMap<String, u64>,
    /// Where something is left.
    left: Vec<Left>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let question = "Mask all secrets in what herma keeps, for good? [y/N] ";
    let is_asked = !arguments.yes && !arguments.dry_run;
    if is_asked && !out::ask(question, "use --yes, or look with --dry-run")? {
        return Err(Failure::File("nothing was changed".into()));
    }
    interrupt::say("stopped. What was masked stays so; give the command again to go on");
    let report = scrub(context, arguments.dry_run)?;
    let is_clean = report.left.is_empty();
    out::show(context.common, &report, Report::text)?;
    if is_clean { Ok(()) } else { Err(Failure::No) }
}

/// Asks the daemon for one part of the work after the other.
fn scrub(context: &CliContext<'_>, dry_run: bool) -> Result<Report, Failure> {
    let mut client = context.connect()?;
    client.set_timeout(Some(PATIENCE))?;
    let mut report = Report { dry_run, ..Report::default() };
    let mut cursor = None;
    let mut progress: Option<(String, Progress)> = None;
    loop {
        let result = client.guard_scrub(ScrubParams { cursor, dry_run: Some(dry_run) })?;
        let bar = match progress.take().filter(|(stage, _)| *stage == result.stage) {
            Some(bar) => bar,
            None => (result.stage.clone(), Progress::new(context.common.shows_progress(), 0, result.of, "change")),
        };
        let (_, bar) = progress.insert(bar);
        let changed = report.changed.entry(result.stage).or_default();
        *changed += result.changed;
        bar.draw(result.done, *changed);
        for SecretCount { kind, count } in result.secrets {
            *report.secrets.entry(kind).or_default() += count;
        }
        report.left.extend(result.left);
        cursor = result.cursor;
        if cursor.is_none() {
            report.left.dedup();
            return Ok(report);
        }
    }
}

impl Report {
    /// Returns the report for people.
    fn text(&self) -> String {
        let all: u64 = self.changed.values().sum();
        if all == 0 && self.left.is_empty() {
            return "nothing that is kept has a secret\n".into();
        }
        let verb = if self.dry_run { "would change" } else { "changed" };
        let nouns =
            [("messages", "message"), ("outputs", "output"), ("memory", "memory text"), ("texts", "other text")];
        let counts = nouns.iter().filter_map(|(stage, noun)| {
            let count = self.changed.get(*stage).copied().filter(|count| *count > 0)?;
            Some(out::count_of(count, noun))
        });
        let counts: Vec<String> = counts.collect();
        let mut rows = Vec::new();
        if !counts.is_empty() {
            rows.push((verb, counts.join(", ")));
        }
        let kinds = self.secrets.iter().map(|(kind, count)| format!("{} × {kind}", out::thousands(*count)));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        if !kinds.is_empty() {
            rows.push(("secrets", kinds));
        }
        if !self.dry_run && self.left.is_empty() {
            rows.push(("checked", "none of them is left in herma's files".into()));
        }
        rows.extend(self.left.iter().map(|left| ("left", format!("{}: {}", left.place, left.why))));
        out::columns(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_changed_and_what_is_left() {
        let mut report = Report {
            changed: [("messages".to_owned(), 1_200), ("outputs".to_owned(), 1), ("index".to_owned(), 0)].into(),
            secrets: [("key".to_owned(), 3)].into(),
            ..Report::default()
        };
        let expected =
            "changed  1,200 messages, 1 output\nsecrets  3 × key\nchecked  none of them is left in herma's files\n";
        assert_eq!(report.text(), expected);
        report.left.push(Left { place: "herma/config.toml".into(), why: "it has one".into() });
        assert!(
            report.text().ends_with("secrets  3 × key\nleft     herma/config.toml: it has one\n"),
            "{}",
            report.text()
        );
        report.dry_run = true;
        assert!(report.text().starts_with("would change  1,200 messages"));
        assert_eq!(Report::default().text(), "nothing that is kept has a secret\n");
    }
}
