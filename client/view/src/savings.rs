//! What herma kept out of the windows of sessions, and what that saved, over time.

use herma_client::protocol::ledger::{ReadParams, ReadResult, Row};
use herma_client::protocol::session::usage::{By, UsageParams, UsageResult};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::plot::{self, Group};
use crate::request::{Params, address};

/// The times that can be chosen, in days.
const TIMES: [u64; 4] = [7, 30, 90, 365];

/// The sessions of the table.
const SESSIONS: usize = 20;

/// What the ledger and the usage say.
#[derive(Debug)]
pub(crate) struct Savings {
    days: u64,
    by_day: ReadResult,
    by_agent: ReadResult,
    by_session: ReadResult,
    usage: UsageResult,
}

pub(crate) fn page(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let days = params.number("days").filter(|days| TIMES.contains(days)).unwrap_or(30);
    let savings = load(daemon, days)?;
    let body = html! {
        nav.tabs aria-label="Time" {
            @for time in TIMES {
                a href=(address("/savings", &[("days", &time.to_string())])) aria-current=[(time == days).then_some("true")] { (time) " days" }
            }
        }
        (body(&savings))
    };
    Ok(Page::new(Section::Savings, "Savings", body))
}

/// Asks for so many days.
pub(crate) fn load(daemon: &Daemon, days: u64) -> Result<Savings, ViewError> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let since = Some(now - days as f64 * 86_400.0);
    daemon.ask(|client| {
        let mut read = |by| client.ledger_read(ReadParams { since, by: Some(by), ..ReadParams::default() });
        let (by_day, by_agent, by_session) = (read(By::Day)?, read(By::Agent)?, read(By::Session)?);
        let usage = client.session_usage(UsageParams { since, by: Some(By::Day), ..UsageParams::default() })?;
        Ok(Savings { days, by_day, by_agent, by_session, usage })
    })
}

/// Returns the content, which needs no server.
pub(crate) fn body(savings: &Savings) -> Markup {
    let Savings { days, by_day, by_agent, by_session, usage } = savings;
    let total = &by_day.total;
    let removed = [&total.outputs, &total.compactions, &total.summaries].iter().map(|part| part.removed).sum::<u64>();
    let added =
        [&total.definitions, &total.context, &total.tools, &total.outputs, &total.compactions, &total.summaries];
    let added = added.iter().map(|part| part.added).sum::<u64>();
    let facts = [
        ("cost of all calls", parts::number(total.cost)),
        ("without herma", parts::number(total.without_herma)),
        ("difference", signed(total.difference)),
        ("tokens kept out of windows", parts::number(removed)),
        ("tokens that herma added", parts::number(added)),
        ("results of searches", parts::number(total.found)),
        ("large outputs", parts::number(total.spilled)),
        ("compactions", parts::number(total.compressed)),
    ];
    html! {
        p.quiet { "The last " (days) " days. Costs are in tokens of plain input: a token read from a prompt cache counts a tenth." }
        dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
        @if by_day.rows.is_empty() && usage.rows.is_empty() { (parts::empty("No call of a model was recorded in this time.")) }
        @else {
            h2 { "Cost by day" }
            (plot::bars("Cost of model calls by day, with and without herma", &["with herma", "without"], &groups(&by_day.rows, |row| vec![row.cost, row.without_herma])))
            h2 { "Prompt cache by day" }
            (plot::bars("Tokens read from and written to prompt caches by day", &["read", "written", "not cached"], &usage.rows.iter().map(|row| Group { name: row.key.clone(), values: vec![row.cache_read, row.cache_write, row.input] }).collect::<Vec<_>>()))
            h2 { "Tokens kept out by day" }
            (plot::bars("Tokens kept out of windows by day", &["large outputs", "compactions"], &groups(&by_day.rows, |row| vec![row.outputs.removed, row.compactions.removed])))
            h2 { "By agent" } (table("Agent", &by_agent.rows, by_agent.rows.len()))
            h2 { "By session" } (table("Session", &by_session.rows, SESSIONS))
        }
    }
}

fn groups(rows: &[Row], values: impl Fn(&Row) -> Vec<u64>) -> Vec<Group> {
    rows.iter().map(|row| Group { name: row.key.clone(), values: values(row) }).collect()
}

fn table(name: &str, rows: &[Row], most: usize) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { (name) } th scope="col" { "Calls" } th scope="col" { "Cost" } th scope="col" { "Without herma" } th scope="col" { "Difference" } th scope="col" { "Found" } th scope="col" { "Outputs" } th scope="col" { "Compactions" } } }
            tbody {
                @for row in rows.iter().take(most) {
                    tr {
                        td { @if name == "Session" { (parts::session(&row.key, &parts::line(&row.key))) } @else { (row.key) } }
                        td.number data-name="calls" { (parts::number(row.calls)) }
                        td.number data-name="cost" { (parts::number(row.cost)) }
                        td.number data-name="without herma" { (parts::number(row.without_herma)) }
                        td.number data-name="difference" { (signed(row.difference)) }
                        td.number data-name="found" { (parts::number(row.found)) }
                        td.number data-name="outputs" { (parts::number(row.spilled)) }
                        td.number data-name="compactions" { (parts::number(row.compressed)) }
                    }
                }
            }
        }
    }
}

fn signed(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "+" };
    format!("{sign}{}", parts::number(number.unsigned_abs()))
}
