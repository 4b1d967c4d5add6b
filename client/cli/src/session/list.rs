//! `herma session list`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::protocol::session::chain::{ListParams, ListResult, Row};

use super::row;
use super::threads::{Place, threads};
use crate::moment;
use crate::names;
use crate::names::session::Whose;

/// The default number of rows.
const LIMIT: u64 = 50;

/// The most rows that one call returns.
const MOST: u64 = 1000;

/// The text that replaces an empty table.
const NONE: &str = "No sessions yet. They appear when an agent works with herma: herma setup";

/// The most columns of a name in the table.
const NAME: usize = 32;

/// What stands before a session that goes on with the one above it, and how often at most.
const BELOW: &str = "> ";
const DEEPEST: usize = 4;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "A chain of compressions is one row: its newest session. On a terminal, sessions that go on with another one, also in another agent, stand below it with a > in front. Without --profile the sessions of all profiles are listed.\n\nOther commands take the number in front (@1), or the beginning of an id.\n\nExamples:\n  herma session list\n  herma session list retry sync --since 14d\n  herma session list --here --agent codex\n  herma session list --limit 20 --page 2\n  herma session list --raw        # every session as it is"
)]
pub(crate) struct Arguments {
    /// Words that the title, the first message, the folder or the branch must have together, as one text
    words: Vec<String>,
    #[command(flatten)]
    place: Whose,
    /// Only sessions on this branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Only sessions that were active since this time: 7d, yesterday, '3 weeks ago', 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<f64>,
    /// The most rows to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
    /// Show this page of rows
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    page: u64,
    /// Only sessions that began before this time: 7d, yesterday, '3 weeks ago', 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    before: Option<f64>,
    /// List every session, also those inside chains
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { branch, since, before, limit, page, .. } = arguments;
    let params = ListParams {
        limit: Some(limit.saturating_mul(*page).min(MOST)),
        before: *before,
        raw: Some(arguments.raw),
        agent: arguments.place.agent.clone(),
        folder: arguments.place.folder()?,
        branch: branch.clone(),
        since: *since,
        text: Some(arguments.words.join(" ")).filter(|text| !text.is_empty()),
        prefix: None,
    };
    // Other commands count the rows of the whole list.
    let is_whole = params == ListParams { limit: params.limit, raw: Some(false), ..ListParams::default() };
    let mut result = context.connect()?.session_list(params)?;
    let first = usize::try_from(limit.saturating_mul(page - 1)).unwrap_or(usize::MAX);
    drop(result.sessions.drain(..first.min(result.sessions.len())));
    out::show(context.common, &result, |result| match out::width() {
        _ if result.sessions.is_empty() => if is_whole { NONE } else { "No session fits." }.to_owned(),
        Some(_) => numbered(result, is_whole.then_some(first)),
        None => table(result),
    })?;
    if let Some(words) = older(&result, arguments).filter(|_| !context.common.json) {
        out::note(context.common, &words);
    }
    Ok(())
}

/// Returns the rows for a terminal. `first` is the number of the first one, for the names that other
/// commands take.
fn numbered(result: &ListResult, first: Option<usize>) -> String {
    let cells = |Place { at, depth }: Place| {
        let row = &result.sessions[at];
        [
            first.map_or_else(String::new, |first| format!("@{}", first + at + 1)),
            format!("{}{}", BELOW.repeat(depth.min(DEEPEST)), names::session::short(&row.session)),
            out::when(row.last_active),
            out::thousands(row.messages),
            out::cut(names::session::folder_name(row.cwd.as_deref()).unwrap_or("-"), NAME),
            names::session::title(row).to_owned(),
        ]
    };
    let rows: Vec<[String; 6]> = threads(&result.sessions).into_iter().map(cells).collect();
    let heads = ["", "session", "active", "messages", "folder", "title"];
    let (left, right) = (Align::Left, Align::Right);
    out::sided(heads, [left, left, left, right, left, left], &rows)
}

/// Says how to see the next page if this one is full.
fn older(result: &ListResult, arguments: &Arguments) -> Option<String> {
    let Arguments { limit, page, .. } = arguments;
    let is_full = u64::try_from(result.sessions.len()) == Ok(*limit);
    let has_next = limit.saturating_mul(*page) < MOST;
    (is_full && has_next).then(|| format!("there may be more: add --page {}", page + 1))
}

fn table(result: &ListResult) -> String {
    let cells = |row: &Row| {
        [
            row.session.clone(),
            out::local_time(row.last_active),
            out::fit(&row::state(row), NAME),
            out::thousands(row.messages),
            out::thousands(row.usage.total),
            row.model.as_deref().map_or("-".into(), |model| out::fit(model, NAME)),
            row.cwd.clone().unwrap_or_else(|| "-".to_owned()),
            names::session::title(row).to_owned(),
        ]
    };
    let rows: Vec<[String; 8]> = result.sessions.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    let sides = [left, left, left, right, right, left, left, left];
    out::sided(["session", "last active", "state", "messages", "tokens", "model", "folder", "title"], sides, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(session: &str, title: Option<&str>) -> Row {
        Row {
            session: session.into(),
            title: title.map(str::to_owned),
            started_at: 1_790_000_000.25,
            messages: 1200,
            preview: "what the user\nfirst said".into(),
            ..Row::default()
        }
    }

    #[test]
    fn sessions_are_a_table_with_a_title_or_its_beginning() {
        let then = out::local_time(0.0);
        let sessions = vec![row("s1", Some("Herma")), row("s2", None)];
        assert_eq!(
            table(&ListResult { sessions }),
            format!(
                "session  last active          state  messages  tokens  model  folder  title\n\
                 s1       {then}  open      1,200       0  -      -       Herma\n\
                 s2       {then}  open      1,200       0  -      -       what the user first said\n"
            )
        );
    }

    #[test]
    fn on_a_terminal_rows_have_numbers_and_short_names() {
        let long =
            Row { cwd: Some("/work/shop".into()), ..row("claude-code:8017a127-7fdf-5acd-a532-2880b6e466d1", None) };
        let text = numbered(&ListResult { sessions: vec![long, row("trip", None)] }, Some(0));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("@1  claude-code:8017a127") && lines[1].contains("shop"), "{text}");
        assert!(lines[2].starts_with("@2  trip") && lines[2].contains("what the user first said"), "{text}");
    }

    #[test]
    fn on_a_terminal_a_thread_across_agents_is_together() {
        let codex = Row { parent: Some("claude-code:a".into()), ..row("codex:b", None) };
        let text =
            numbered(&ListResult { sessions: vec![codex, row("trip", None), row("claude-code:a", None)] }, Some(0));
        let begins: Vec<&str> = text.lines().skip(1).map(|line| line.split("  ").next().unwrap()).collect();
        assert_eq!(begins, ["@3", "@1", "@2"], "{text}");
        assert!(text.contains("@1  > codex:b") && text.contains("@3  claude-code:a"), "{text}");
    }

    #[test]
    fn a_full_page_says_how_to_see_the_next_one() {
        for (limit, page, rows, expected) in [
            (2, 1, 2, Some("there may be more: add --page 2")),
            (2, 3, 2, Some("there may be more: add --page 4")),
            (3, 1, 2, None),
            (1, 1, 0, None),
            (1000, 1, 1000, None),
        ] {
            let result = ListResult { sessions: vec![row("s", None); rows] };
            let arguments = Arguments { limit, page, ..Arguments::default() };
            assert_eq!(older(&result, &arguments).as_deref(), expected, "{limit} {page} {rows}");
        }
    }
}
