//! `herma usage --savings`: the additions to windows, the removals, and their cost.

use herma_base::out::{self, Align};
use herma_base::{Common, Failure};
use herma_client::Client;
use herma_client::protocol::ledger::{Part, ReadParams, ReadResult, Row};

use super::{By, KEY};

const NOTHING: &str =
    "Nothing yet. Messages are kept, and windows changed, when an agent works with herma: herma setup";

const UNCHANGED: &str = "herma changed no window that is on record.";

pub(super) fn run(
    common: &Common,
    client: &mut Client,
    session: Option<String>,
    since: Option<f64>,
    by: By,
) -> Result<(), Failure> {
    let result = client.ledger_read(ReadParams { session, since, by: Some(by), agents: None })?;
    show(common, &result, by)
}

fn show(common: &Common, result: &ReadResult, by: By) -> Result<(), Failure> {
    out::show(common, result, |result| text(result, by))
}

fn text(result: &ReadResult, by: By) -> String {
    let total = Row { key: "total".into(), ..result.total.clone() };
    if result.rows.is_empty() {
        return if total.messages == 0 { NOTHING.into() } else { format!("{}\n{UNCHANGED}", summary(&total)) };
    }
    let rows: Vec<[String; 7]> = result.rows.iter().chain([&total]).map(cells).collect();
    let sides = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right];
    let sessions =
        out::sided([super::name(by), "messages", "calls", "cost", "without herma", "difference", ""], sides, &rows);
    let parts = [
        ("tool definitions and instructions", &total.definitions),
        ("memory, rules and state", &total.context),
        ("calls of herma's tools", &total.tools),
        ("previews of large outputs", &total.outputs),
        ("windows after herma's compactions", &total.compactions),
        ("requests for a summary", &total.summaries),
    ];
    let parts: Vec<[String; 5]> = parts.iter().map(|(name, part)| part_cells(name, part)).collect();
    let sides = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let parts = out::sided(["what", "times", "added", "instead of", "cost"], sides, &parts);
    format!("{}\n{sessions}\n{parts}\n{}", summary(&total), verdict(&total))
}

/// Returns what herma did, in a few lines. The tables below have what they are made of.
fn summary(total: &Row) -> String {
    // A daemon of an older version does not count these itself.
    let shorter = |counted: u64, part: &Part, noun: &str| match counted.max(part.count) {
        0 => "none".to_owned(),
        count if part.count == 0 => out::count_of(count, noun),
        count => {
            let tokens = out::thousands(part.removed.saturating_sub(part.added));
            format!("{}, {tokens} tokens shorter", out::count_of(count, noun))
        }
    };
    out::columns(&[
        ("kept", out::count_of(total.messages, "message")),
        ("found", format!("{} that agents searched for", out::count_of(total.found, "message"))),
        ("spilled", shorter(total.spilled, &total.outputs, "large output")),
        ("compacted", shorter(total.compressed, &total.compactions, "window")),
    ])
}

fn cells(row: &Row) -> [String; 7] {
    let key = if row.key.is_empty() { "-".into() } else { out::fit(&row.key, KEY) };
    let [messages, calls, cost, without] = [row.messages, row.calls, row.cost, row.without_herma].map(out::thousands);
    [
        key,
        messages,
        calls,
        cost,
        without,
        signed(row.difference),
        percent(row).map(|share| format!("{share:+.1} %")).unwrap_or_default(),
    ]
}

fn part_cells(name: &str, part: &Part) -> [String; 5] {
    let [count, added, removed] = [part.count, part.added, part.removed].map(out::thousands);
    [name.into(), count, added, removed, signed(part.cost)]
}

/// Returns the sentence below the tables.
fn verdict(total: &Row) -> String {
    let share = percent(total).map(|share| format!(" ({:.1} %)", share.abs())).unwrap_or_default();
    let tokens = out::thousands(total.difference.unsigned_abs());
    match total.difference {
        _ if total.calls == 0 => "No call of a model is on record, so nothing has a cost.".into(),
        0 => "herma saved as much as it cost.".into(),
        1.. => format!("herma cost {tokens} tokens of input{share} more than it saved."),
        _ => format!("herma saved {tokens} tokens of input{share}."),
    }
}

/// Returns the difference in percent of the cost of the calls without herma.
#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(row: &Row) -> Option<f64> {
    (row.without_herma > 0).then(|| 100.0 * row.difference as f64 / row.without_herma as f64)
}

fn signed(tokens: i64) -> String {
    let sign = match tokens {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", out::thousands(tokens.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, difference: i64) -> Row {
        Row {
            key: key.into(),
            messages: 1_200,
            found: 1,
            calls: 40,
            cost: 90_000,
            without_herma: 90_000_u64.checked_add_signed(-difference).unwrap(),
            difference,
            definitions: Part { count: 1, added: 300, removed: 0, cost: 1_500 },
            outputs: Part { count: 3, added: 1_500, removed: 90_000, cost: difference - 1_500 },
            ..Row::default()
        }
    }

    #[test]
    fn each_row_says_what_it_would_have_cost_and_each_part_why() {
        let result = ReadResult { rows: vec![row("claude-code:1", -10_000)], total: row("", -10_000) };
        assert_eq!(
            text(&result, By::Session),
            "kept       1,200 messages\n\
             found      1 message that agents searched for\n\
             spilled    3 large outputs, 88,500 tokens shorter\n\
             compacted  none\n\
             \n\
             session        messages  calls    cost  without herma  difference\n\
             claude-code:1     1,200     40  90,000        100,000     -10,000  -10.0 %\n\
             total             1,200     40  90,000        100,000     -10,000  -10.0 %\n\
             \n\
             what                               times  added  instead of     cost\n\
             tool definitions and instructions      1    300           0   +1,500\n\
             memory, rules and state                0      0           0        0\n\
             calls of herma's tools                 0      0           0        0\n\
             previews of large outputs              3  1,500      90,000  -11,500\n\
             windows after herma's compactions      0      0           0        0\n\
             requests for a summary                 0      0           0        0\n\
             \n\
             herma saved 10,000 tokens of input (10.0 %)."
        );
        assert_eq!(text(&ReadResult::default(), By::Day), NOTHING);
        let kept = ReadResult { rows: vec![], total: Row { messages: 1, ..Row::default() } };
        let text = text(&kept, By::Session);
        assert!(text.starts_with("kept       1 message\n") && text.ends_with(UNCHANGED), "{text}");
    }

    #[test]
    fn it_says_so_if_herma_cost_more() {
        for (total, expected) in [
            (row("", 10_000), "herma cost 10,000 tokens of input (12.5 %) more than it saved."),
            (row("", 0), "herma saved as much as it cost."),
            (Row { calls: 0, ..row("", 0) }, "No call of a model is on record, so nothing has a cost."),
        ] {
            assert_eq!(verdict(&total), expected);
        }
    }
}
