//! `herma memory log`.

use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::memory::{LogParams, LogResult, LogRow};

use super::change::Change;
use super::{Store, name, write};
use crate::moment;

/// The default number of rows.
const LIMIT: u64 = 20;

/// The most rows that one call returns.
const MOST: u64 = 1000;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each row shows what its change added (+) and removed (-).\n\nExamples:\n  herma memory log\n  herma memory log user --limit 100\n  herma memory log memory --before 40\n  herma memory log --since 'last tuesday' --until yesterday\n  herma memory diff memory 39 40     # one change in full"
)]
pub(crate) struct Arguments {
    /// One store; both when left out
    store: Option<Store>,
    /// The most rows to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
    /// Only changes with a revision below this one
    #[arg(long, value_name = "REVISION")]
    before: Option<u64>,
    /// Only changes from this time on: 7d, 12h, yesterday, 'last tuesday', 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<f64>,
    /// Only changes before this time
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    until: Option<f64>,
    /// Show entries even if the guard blocks them
    #[arg(long)]
    raw: bool,
}

impl Arguments {
    fn is_filtered(&self) -> bool {
        self.before.is_some() || self.since.is_some() || self.until.is_some()
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params = LogParams {
        target: arguments.store.map(Into::into),
        limit: Some(arguments.limit),
        before: arguments.before,
        since: arguments.since,
        until: arguments.until,
        raw: Some(arguments.raw),
    };
    let result = context.connect()?.memory_log(params)?;
    out::show(context.common, &result, |result| {
        let mut text = match (result.rows.is_empty(), arguments.is_filtered()) {
            (true, true) => "No change fits.\n".into(),
            (true, false) => "No changes yet. They appear when a store is written: herma memory add user TEXT\n".into(),
            (false, _) => table(result, arguments.store),
        };
        for line in notes(context.common, result, arguments.store) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    })
}

/// Returns what a revision changed, in one line of so many columns.
pub(crate) fn change_summary(row: &LogRow, columns: Option<usize>) -> String {
    Change::between(&row.before, &row.after).summary(columns)
}

fn table(result: &LogResult, store: Option<Store>) -> String {
    let cells = |row: &LogRow| {
        [
            row.revision.to_string(),
            out::when(row.time),
            row.action.clone(),
            at(&who(&row.agent, &row.session), &row.host),
            String::new(),
        ]
    };
    if store.is_some() {
        let rows: Vec<[String; 5]> = result.rows.iter().map(cells).collect();
        return with_changes(["revision", "time", "action", "who", "change"], rows, &result.rows);
    }
    let rows = result.rows.iter().map(|row| {
        let [revision, time, action, who, change] = cells(row);
        [name(row.target).to_owned(), revision, time, action, who, change]
    });
    with_changes(["store", "revision", "time", "action", "who", "change"], rows.collect(), &result.rows)
}

/// Fills the last column with the changes, as far as a terminal has room.
fn with_changes<const N: usize>(head: [&str; N], mut rows: Vec<[String; N]>, changes: &[LogRow]) -> String {
    let room = out::room(head, &rows);
    for (row, change) in rows.iter_mut().zip(changes) {
        row[N - 1] = change_summary(change, room);
    }
    out::table(head, &rows)
}

/// Returns the writer: the agent and the session, as far as they are known.
pub(crate) fn who(agent: &Option<String>, session: &Option<String>) -> String {
    match (agent, session) {
        (Some(agent), Some(session)) => out::fit(&format!("{agent}/{session}"), WHO),
        (Some(one), None) => out::fit(one, WHO),
        (None, Some(session)) => out::fit(&format!("/{session}"), WHO),
        (None, None) => "-".into(),
    }
}

/// Adds the host if the store is shared.
fn at(who: &str, host: &Option<String>) -> String {
    match host {
        Some(host) => format!("{who}@{host}"),
        None => who.to_owned(),
    }
}

/// The most chars of a name in a table.
const WHO: usize = 32;

/// Returns the notes for people that follow the rows.
fn notes(common: &Common, result: &LogResult, store: Option<Store>) -> Vec<String> {
    let mut notes = Vec::new();
    if result.more {
        let oldest = result.rows.iter().map(|row| row.revision).min().unwrap_or(0);
        notes.push(match store {
            Some(store) => {
                let look = common.command(&format!("memory log {} --before {oldest}", name(store.into())));
                format!("older changes are kept: {look}")
            }
            None => format!("older changes are kept: name a store and add --before, or raise --limit (up to {MOST})"),
        });
    }
    notes.extend(write::waiting(common, result.pending_count));
    if result.damaged > 0 {
        let lines = if result.damaged == 1 { "line is" } else { "lines are" };
        notes.push(format!("{} {lines} damaged in the journal and left out", out::thousands(result.damaged)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::memory::Target;

    use super::*;

    fn row(target: Target, revision: u64) -> LogRow {
        LogRow {
            target,
            revision,
            time: 0.0,
            action: "add".into(),
            session: Some("s1".into()),
            agent: Some("coder".into()),
            host: None,
            before: vec![],
            after: vec!["one".into()],
        }
    }

    fn result(more: bool, damaged: u64) -> LogResult {
        LogResult { rows: vec![row(Target::User, 9), row(Target::User, 8)], more, damaged, pending_count: None }
    }

    #[test]
    fn rows_become_a_table() {
        let time = out::local_time(0.0);
        let one = table(&result(false, 0), Some(Store::User));
        assert_eq!(one.lines().nth(1), Some(format!("9         {time}  add     coder/s1  +one").as_str()), "{one}");
        let both = table(&result(false, 0), None);
        assert_eq!(
            both.lines().nth(2),
            Some(format!("user   8         {time}  add     coder/s1  +one").as_str()),
            "{both}"
        );
    }

    #[test]
    fn writers_are_named_as_far_as_they_are_known() {
        let name = |name: &str| Some(name.to_owned());
        for (agent, session, expected) in [
            (name("coder"), name("s"), "coder/s"),
            (name("coder"), None, "coder"),
            (None, name("s"), "/s"),
            (None, None, "-"),
        ] {
            assert_eq!(who(&agent, &session), expected);
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        let notes_of = |result: &LogResult, store| notes(&Common::default(), result, store);
        assert_eq!(notes_of(&result(false, 0), None), Vec::<String>::new());
        assert_eq!(
            notes_of(&result(true, 1), Some(Store::User)),
            [
                "older changes are kept: herma memory log user --before 8",
                "1 line is damaged in the journal and left out"
            ]
        );
        assert_eq!(
            notes_of(&result(true, 2), None),
            [
                "older changes are kept: name a store and add --before, or raise --limit (up to 1000)",
                "2 lines are damaged in the journal and left out"
            ]
        );
    }
}
