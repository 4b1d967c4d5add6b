//! `herma files log`.

use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::files::{LogFile, LogParams, LogResult, LogRow};

use crate::memory::{Step, steps, who};

/// The default number of changes.
const LIMIT: u64 = 20;

/// The most changes that one call returns.
const MOST: u64 = 1000;

/// The most files that the row of a change names.
const NAMED: usize = 3;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  herma files log\n  herma files log notes.md --diff\n  herma files log --before 40 --limit 100"
)]
pub(crate) struct Arguments {
    /// Only changes of this file, or in this folder
    path: Option<String>,
    /// The most changes to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
    /// Only changes with a revision below this one
    #[arg(long, value_name = "REVISION")]
    before: Option<u64>,
    /// Show the lines that each change removed and added
    #[arg(long)]
    diff: bool,
    /// Show texts even if the guard blocks them
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params = LogParams {
        path: arguments.path.as_deref().map(super::path),
        limit: Some(arguments.limit),
        before: arguments.before,
        texts: Some(arguments.diff),
        raw: Some(arguments.raw),
    };
    let result = context.connect()?.files_log(params)?;
    if context.common.json {
        return out::json(&result);
    }
    let mut text = match (result.rows.is_empty(), arguments.diff) {
        (true, _) => "No changes yet. They appear when a memory file is written.\n".to_owned(),
        (false, false) => table(&result.rows),
        (false, true) => result.rows.iter().map(changed).collect(),
    };
    text.extend(notes(context.common, &result));
    out::changes(&text)
}

fn table(rows: &[LogRow]) -> String {
    let cells = |row: &LogRow| {
        let named: Vec<String> = row.files.iter().take(NAMED).map(summary).collect();
        let more = row.files.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        [
            row.revision.to_string(),
            out::when(row.time),
            row.action.clone(),
            who(&row.agent, &row.session),
            named.join(", ") + &more,
        ]
    };
    let rows: Vec<[String; 5]> = rows.iter().map(cells).collect();
    out::table(["revision", "time", "action", "who", "files"], &rows)
}

/// Describes a file and its change of size.
fn summary(file: &LogFile) -> String {
    match (file.bytes_before, file.bytes_after) {
        (None, Some(after)) => format!("+{} ({})", file.path, out::size(after)),
        (_, None) => format!("-{}", file.path),
        (Some(before), Some(after)) => format!("{} ({} to {})", file.path, out::size(before), out::size(after)),
    }
}

/// Describes a change with its lines.
fn changed(row: &LogRow) -> String {
    let head = format!("revision {}, {}, {}", row.revision, row.action, out::local_time(row.time));
    let lines =
        |text: &Option<String>| text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect::<Vec<_>>();
    row.files.iter().fold(head + "\n", |text, file| {
        let (before, after) = (lines(&file.before), lines(&file.after));
        let changed = steps(&before, &after).into_iter().filter_map(|step| match step {
            Step::Remove(line) => Some(format!("-{line}\n")),
            Step::Add(line) => Some(format!("+{line}\n")),
            Step::Keep(_) => None,
        });
        format!("{text}{}\n{}", file.path, changed.collect::<String>())
    })
}

fn notes(common: &Common, result: &LogResult) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(oldest) = result.rows.last().filter(|_| result.more) {
        let look = common.command(&format!("files log --before {}", oldest.revision));
        notes.push(format!("older changes are kept: {look}\n"));
    }
    if result.damaged > 0 {
        let lines = if result.damaged == 1 { "line is" } else { "lines are" };
        notes.push(format!("{} {lines} damaged in the journal and left out\n", out::thousands(result.damaged)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> LogRow {
        let file = |path: &str, before: Option<&str>, after: Option<&str>| LogFile {
            path: format!("/memories/{path}"),
            bytes_before: before.map(|text| text.len() as u64),
            bytes_after: after.map(|text| text.len() as u64),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let files = vec![
            file("a", None, Some("one\n")),
            file("b", Some("one\ntwo\n"), Some("one\n2\n")),
            file("c", Some("x"), None),
            file("d", None, Some("")),
        ];
        LogRow { revision: 7, time: 0.0, action: "restore".into(), session: None, agent: Some("person".into()), files }
    }

    #[test]
    fn changes_are_summed_up_or_shown_line_by_line() {
        let text = table(&[row()]);
        let line = text.lines().nth(1).unwrap_or_default();
        assert!(line.starts_with("7         ") && line.contains("restore  person"), "{text}");
        assert!(line.ends_with("+/memories/a (4 B), /memories/b (8 B to 6 B), -/memories/c, 1 more"), "{text}");
        let text = changed(&row());
        for part in
            ["revision 7, restore, ", "\n/memories/a\n+one\n", "\n/memories/b\n-two\n+2\n", "\n/memories/c\n-x\n"]
        {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        let result = LogResult { rows: vec![row()], more: true, damaged: 2 };
        assert_eq!(
            notes(&Common::default(), &result),
            [
                "older changes are kept: herma files log --before 7\n",
                "2 lines are damaged in the journal and left out\n"
            ]
        );
    }
}
