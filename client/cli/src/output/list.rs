//! `herma output list`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::ClientError;
use herma_client::protocol::output::shelf::{ListParams, ListResult, Reason, Row, State};

use crate::names;

/// The default number of rows.
const LIMIT: u64 = 100;

/// The most rows that one call returns.
const MOST: u64 = 100_000;

/// The factor for asking again if too many of the rows are expired.
const GROWTH: u64 = 10;

/// The most columns of a name in the table.
const NAME: usize = 32;

/// The chars of a handle in a table for people: 8 digits.
const SHORT: usize = 12;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The table has what is kept, and with --expired also what is gone; --json has both.\n\nExamples:\n  herma output list\n  herma output list --session my-session --limit 20\n  herma output list --expired"
)]
pub(crate) struct Arguments {
    /// Only outputs of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The most rows to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
    /// Also list removed outputs
    #[arg(long)]
    expired: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    let mut ask = |limit| {
        client.output_list(ListParams { session: session.clone(), limit: Some(limit), ..ListParams::default() })
    };
    if context.common.json {
        return out::json(&ask(arguments.limit)?);
    }
    let mut rows = rows(arguments, ask)?;
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    out::page(&if rows.is_empty() {
        nothing(session.as_deref())
    } else if out::width().is_some() {
        brief(&rows)
    } else {
        table(&rows)
    })?;
    if more {
        out::note(context.common, &format!("there are older ones; raise --limit (up to {MOST})"));
    }
    Ok(())
}

/// Returns the rows to show, plus one if there are more. The daemon also counts expired rows, so more rows may have to
/// be requested.
fn rows(
    arguments: &Arguments,
    mut ask: impl FnMut(u64) -> Result<ListResult, ClientError>,
) -> Result<Vec<Row>, ClientError> {
    let wanted = (arguments.limit + 1).min(MOST);
    let mut limit = wanted;
    loop {
        let mut rows = ask(limit)?.outputs;
        let is_all = limit == MOST || u64::try_from(rows.len()).is_ok_and(|count| count < limit);
        rows.retain(|row| arguments.expired || row.state == State::Kept);
        if is_all || u64::try_from(rows.len()).is_ok_and(|count| count >= wanted) {
            return Ok(rows);
        }
        limit = limit.saturating_mul(GROWTH).min(MOST);
    }
}

fn nothing(session: Option<&str>) -> String {
    let of = session.map(|session| format!(" of {session}")).unwrap_or_default();
    format!("No outputs{of} yet. They appear when a tool returns more than an agent keeps in its context.")
}

/// Returns the rows for a terminal, with names as other commands take them.
fn brief(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        [
            row.handle.chars().take(SHORT).collect(),
            names::session::short(&row.session),
            named(&row.tool),
            out::size(row.bytes),
            out::when(row.created_at),
            state(row),
        ]
    };
    let rows: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    out::sided(["handle", "session", "tool", "size", "when", "state"], [left, left, left, right, left, left], &rows)
}

/// Returns the rows for a pipe, with all that is known.
fn table(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        [
            row.handle.clone(),
            named(&row.session),
            named(&row.tool),
            named(&row.id),
            out::size(row.bytes),
            out::thousands(row.chars),
            out::local_time(row.created_at),
            state(row),
        ]
    };
    let rows: Vec<[String; 8]> = rows.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    let sides = [left, left, left, left, right, right, left, left];
    out::sided(["handle", "session", "tool", "id", "size", "chars", "when", "state"], sides, &rows)
}

/// Returns a name for a table, with a placeholder for an empty one.
pub(super) fn named(name: &str) -> String {
    if name.is_empty() { "-".into() } else { out::fit(name, NAME) }
}

/// Returns the reason why an output was removed, in a word or two.
pub(crate) const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Ttl => "too old",
        Reason::Quota => "over the quota",
        Reason::Removed => "removed",
    }
}

fn state(row: &Row) -> String {
    match row.state {
        State::Kept => "kept".into(),
        State::Expired => {
            let when = row.expired_at.map_or(String::new(), |time| format!(" {}", out::when(time)));
            let why = row.reason.map_or(String::new(), |why| format!(", {}", reason(why)));
            format!("expired{when}{why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: State) -> Row {
        let is_kept = state == State::Kept;
        Row {
            handle: "out_1".into(),
            session: "s".into(),
            tool: String::new(),
            id: "call_1".into(),
            path: "/h/s/call_1.txt".into(),
            chars: 1500,
            bytes: 1536,
            sha256: String::new(),
            created_at: 0.0,
            state,
            expired_at: Some(60.0).filter(|_| !is_kept),
            reason: Some(Reason::Quota).filter(|_| !is_kept),
        }
    }

    fn arguments(limit: u64, expired: bool) -> Arguments {
        Arguments { session: None, limit, expired }
    }

    #[test]
    fn outputs_are_a_table() {
        let (then, gone) = (out::local_time(0.0), out::local_time(60.0));
        assert_eq!(
            table(&[row(State::Kept), row(State::Expired)]),
            format!(
                "handle  session  tool  id         size  chars  when                 state\n\
                 out_1   s        -     call_1  1.5 KiB  1,500  {then}  kept\n\
                 out_1   s        -     call_1  1.5 KiB  1,500  {then}  expired {gone}, over the quota\n"
            )
        );
        let long = Row { handle: "out_0123456789abcdef0123".into(), ..row(State::Kept) };
        assert!(brief(&[long]).contains("\nout_01234567  s        -"));
        assert!(nothing(Some("s")).starts_with("No outputs of s yet."));
    }

    #[test]
    fn expired_rows_do_not_push_kept_ones_out() {
        // 30 expired rows are newer than 5 kept ones.
        let shelf: Vec<Row> =
            std::iter::repeat_n(row(State::Expired), 30).chain(std::iter::repeat_n(row(State::Kept), 5)).collect();
        for (limit, expired, shown, asked) in [
            (2, false, 5, vec![3, 30, 300]),
            (2, true, 3, vec![3]),
            (100, false, 5, vec![101]),
            (100, true, 35, vec![101]),
            (MOST, false, 5, vec![MOST]),
        ] {
            let mut limits = Vec::new();
            let rows = rows(&arguments(limit, expired), |limit| {
                limits.push(limit);
                Ok(ListResult { outputs: shelf.iter().take(usize::try_from(limit).unwrap()).cloned().collect() })
            });
            assert_eq!((rows.unwrap().len(), limits), (shown, asked), "{limit} {expired}");
        }
    }
}
