//! `herma usage`.

mod savings;

use clap::ValueEnum;
use herma_base::out::{self, Align, BarStyle};
use herma_base::{CliContext, Failure};
use herma_client::protocol::session::usage::{By, UsageParams, UsageResult, UsageRow};

use super::moment;
use crate::names;

/// The most chars of a key in the table.
const KEY: usize = 48;

const NONE: &str = "No calls of a model yet. They appear when an agent with herma's hooks calls its model.";

/// The grouping of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GroupBy {
    /// A session
    Session,
    /// A model
    Model,
    /// An agent
    Agent,
    /// A day
    Day,
}

// Shows the usage of model calls, in tokens.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`prompt` is all that was sent; `cached` is the part of it that was read from a prompt cache; `total` is prompt and output. The bars compare the totals. Agents report their calls with context.record_usage, hooks from the transcript of the session.\n\nWith --savings: costs are in tokens of plain input, where a token that is read from a prompt cache counts 0.1, one that is written into it 1.25, and one of an answer 5. `added` is in the window because of herma, `instead of` is what the agent itself would have there. docs/usage.md says how each part is counted.\n\nExamples:\n  herma usage\n  herma usage --since 7d --by day\n  herma usage --by session --since 2026-11-01\n  herma usage --session my-session --json\n  herma usage --savings --since 7d"
)]
pub(super) struct Arguments {
    /// Only calls from this time on: 7d, yesterday, '3 weeks ago', 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<f64>,
    /// The grouping of rows [default: model; session with --savings]
    #[arg(long, value_enum)]
    by: Option<GroupBy>,
    /// Only calls of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show what herma added to windows and removed, and whether that saved tokens or cost more
    #[arg(long)]
    savings: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let by = match arguments.by {
        Some(GroupBy::Session) => By::Session,
        Some(GroupBy::Model) => By::Model,
        Some(GroupBy::Agent) => By::Agent,
        Some(GroupBy::Day) => By::Day,
        None if arguments.savings => By::Session,
        None => By::Model,
    };
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    if arguments.savings {
        return savings::run(context.common, &mut client, session, arguments.since, by);
    }
    let result = client.session_usage(UsageParams { session, since: arguments.since, by: Some(by) })?;
    out::show(context.common, &result, |result| table(result, by, BarStyle::of_environment()))
}

/// Returns the name of the grouping.
const fn name(by: By) -> &'static str {
    match by {
        By::Session => "session",
        By::Model => "model",
        By::Agent => "agent",
        By::Day => "day",
    }
}

fn table(result: &UsageResult, by: By, ink: BarStyle) -> String {
    if result.rows.is_empty() {
        return NONE.into();
    }
    let most = result.rows.iter().map(|row| row.total).max().unwrap_or(0);
    let cells = |row: &UsageRow| {
        let key = if row.key.is_empty() { "-".into() } else { out::fit(&row.key, KEY) };
        let [calls, prompt, cached, output, total] =
            [row.calls, row.prompt, row.cache_read, row.output, row.total].map(out::thousands);
        [key, calls, prompt, cached, output, total, String::new()]
    };
    let all = &result.total;
    let total = UsageRow {
        key: "total".into(),
        calls: all.calls,
        prompt: all.prompt,
        cache_read: all.cache_read,
        output: all.output,
        total: all.total,
        ..UsageRow::default()
    };
    let mut rows: Vec<[String; 7]> = result.rows.iter().chain([&total]).map(cells).collect();
    let head = [name(by), "calls", "prompt", "cached", "output", "total", ""];
    let room = out::room(head, &rows).unwrap_or(usize::MAX);
    for (cells, row) in rows.iter_mut().zip(&result.rows) {
        cells[6] = ink.bar(out::share(row.total, most), room);
    }
    let sides = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];
    out::sided(head, sides, &rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::session::usage::Totals;

    use super::*;

    fn row(key: &str, prompt: u64, output: u64) -> UsageRow {
        UsageRow {
            key: key.into(),
            calls: 2,
            prompt,
            cache_read: 1000,
            output,
            total: prompt + output,
            ..UsageRow::default()
        }
    }

    #[test]
    fn usage_is_a_table_with_bars_and_a_total() {
        let total =
            Totals { calls: 4, prompt: 15_000, cache_read: 2000, output: 3000, total: 18_000, ..Totals::default() };
        let result = UsageResult { rows: vec![row("m-large", 10_000, 2000), row("", 5000, 1000)], total };
        assert_eq!(
            table(&result, By::Model, BarStyle::Ascii),
            "model    calls  prompt  cached  output   total\n\
             m-large      2  10,000   1,000   2,000  12,000  ####################\n\
             -            2   5,000   1,000   1,000   6,000  ##########\n\
             total        4  15,000   2,000   3,000  18,000\n"
        );
    }

    #[test]
    fn nothing_used_is_told() {
        assert_eq!(table(&UsageResult::default(), By::Day, BarStyle::Blocks), NONE);
    }
}
