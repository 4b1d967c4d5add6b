//! The result of a run, for people and for programs.

use std::path::Path;

use herma_base::{out, progress};
use herma_client::protocol::trajectory::metrics::Aggregate;
use serde::Serialize;

use super::place::Sums;

/// The most problems that are listed for programs. The aggregate counts all of them.
pub(super) const PROBLEMS: usize = 100;

/// The result of a run.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    pub(super) input: &'a Path,
    /// `None` in a dry run.
    pub(super) output: Option<&'a Path>,
    pub(super) metrics: Option<&'a Path>,
    pub(super) dry_run: bool,
    /// The way in which tokens were counted: `script`, or the path of the tokenizer.
    pub(super) counted_by: String,
    pub(super) aggregate: Aggregate,
    /// The lines without a conversation.
    pub(super) passed_through: u64,
    /// The trajectories that are still over the target and were not written.
    pub(super) over_limit_left_out: u64,
    pub(super) timed_out: u64,
    pub(super) failed: u64,
    /// The trajectories and turns that a dry run would replace.
    pub(super) planned: Option<Planned>,
    pub(super) problems: &'a [Problem],
}

/// The trajectories and turns that a dry run would replace.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Planned {
    pub(super) trajectories: u64,
    pub(super) turns: u64,
}

/// A line that could not be compressed.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Problem {
    pub(super) file: String,
    /// The number of the line, from 1.
    pub(super) line: u64,
    pub(super) message: String,
}

impl Planned {
    pub(super) const fn of(sums: &Sums) -> Self {
        Self { trajectories: sums.planned.0, turns: sums.planned.1 }
    }
}

/// Returns the report as rows.
pub(super) fn text(report: &Report<'_>) -> String {
    let Aggregate { summary, tokens, turns, summarization, processing, .. } = &report.aggregate;
    let number = out::thousands;
    let mut rows = vec![("trajectories", number(summary.total_trajectories))];
    match report.planned {
        Some(planned) => {
            let words = format!("{} would be, {} turns of them", number(planned.trajectories), number(planned.turns));
            rows.push(("compressed", words));
        }
        None => rows.push(("compressed", number(summary.trajectories_compressed))),
    }
    rows.push(("under the target", number(summary.trajectories_skipped_under_target)));
    let over = number(summary.trajectories_still_over_limit);
    rows.push((if report.planned.is_some() { "over it now" } else { "still over it" }, over));
    rows.push(("tokens", change(tokens.total_before, tokens.total_after)));
    rows.push(("turns", change(turns.total_before, turns.total_after)));
    if summarization.total_api_calls > 0 {
        let (calls, errors) = (number(summarization.total_api_calls), number(summarization.total_errors));
        rows.push(("calls of models", format!("{calls}, {errors} failed")));
    }
    for (name, count) in [
        ("passed through", report.passed_through),
        ("left out", report.over_limit_left_out),
        ("timed out", report.timed_out),
        ("failed", report.failed),
    ] {
        if count > 0 {
            rows.push((name, number(count)));
        }
    }
    rows.push(("time", progress::span(processing.duration_seconds)));
    rows.extend(report.output.map(|path| ("written to", path.display().to_string())));
    rows.extend(report.metrics.map(|path| ("metrics", path.display().to_string())));
    out::columns(&rows)
}

#[expect(clippy::cast_precision_loss, reason = "whole percents are shown")]
fn change(before: u64, after: u64) -> String {
    if before == after {
        return out::thousands(before);
    }
    let saved = before.saturating_sub(after) as f64 / before.max(1) as f64 * 100.0;
    format!("{} → {} ({saved:.0} % saved)", out::thousands(before), out::thousands(after))
}
