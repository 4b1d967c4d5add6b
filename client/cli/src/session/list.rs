//! `herma session list`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Common, Failure};
use herma_client::protocol::session::chain::{ListParams, ListResult, Row};

use super::row;
use crate::moment;

/// The default number of rows.
const LIMIT: u64 = 50;

/// The most rows that one call returns.
const MOST: u64 = 1000;

/// The most chars of a name, and of a title, in the table.
const NAME: usize = 32;
const TITLE: usize = 48;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A chain of compressions is one row: its newest session. Without --profile the sessions of all profiles are listed.\n\nExamples:\n  herma session list\n  herma session list --before 7d --limit 20\n  herma session list --raw        # every session as it is"
)]
pub(crate) struct Arguments {
    /// The most rows to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
    /// Only sessions that began before this time: 7d, 12h, 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    before: Option<f64>,
    /// List every session, also those inside chains
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params = ListParams { limit: Some(arguments.limit), before: arguments.before, raw: Some(arguments.raw) };
    let result = context.connect()?.session_list(params)?;
    out::show(context.common, &result, table)?;
    if let Some(words) = older(context.common, &result, arguments).filter(|_| !context.common.json) {
        out::note(context.common, &words);
    }
    Ok(())
}

/// Returns the command for the next page if this one is full.
fn older(common: &Common, result: &ListResult, arguments: &Arguments) -> Option<String> {
    let last = result.sessions.last().filter(|_| u64::try_from(result.sessions.len()) == Ok(arguments.limit))?;
    let raw = if arguments.raw { " --raw" } else { "" };
    let look = common.command(&format!("session list --before {}{raw}", last.started_at));
    Some(format!("there may be older ones: {look}"))
}

fn table(result: &ListResult) -> String {
    if result.sessions.is_empty() {
        return "no session".into();
    }
    let cells = |row: &Row| {
        let title = row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.preview);
        [
            row.session.clone(),
            out::local_time(row.last_active),
            out::cut(&row::state(row), NAME),
            out::thousands(row.messages),
            out::thousands(row.usage.total),
            row.model.as_deref().map_or("-".into(), |model| out::cut(model, NAME)),
            out::cut(title, TITLE),
        ]
    };
    let rows: Vec<[String; 7]> = result.sessions.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    let sides = [left, left, left, right, right, left, left];
    out::sided(["session", "last active", "state", "messages", "tokens", "model", "title"], sides, &rows)
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
                "session  last active          state  messages  tokens  model  title\n\
                 s1       {then}  open      1,200       0  -      Herma\n\
                 s2       {then}  open      1,200       0  -      what the user first said\n"
            )
        );
        assert_eq!(table(&ListResult::default()), "no session");
    }

    #[test]
    fn a_full_page_says_how_to_see_the_next_one() {
        for (limit, raw, rows, expected) in [
            (2, false, 2, Some("there may be older ones: herma session list --before 1790000000.25")),
            (2, true, 2, Some("there may be older ones: herma session list --before 1790000000.25 --raw")),
            (3, false, 2, None),
            (1, false, 0, None),
        ] {
            let result = ListResult { sessions: vec![row("s", None); rows] };
            let arguments = Arguments { limit, before: None, raw };
            assert_eq!(older(&Common::default(), &result, &arguments).as_deref(), expected);
        }
    }
}
