//! What happens now: the newest sessions on a timeline, how full their windows are, and events as they come.

use std::time::{SystemTime, UNIX_EPOCH};

use herma_base::out;
use herma_client::protocol::daemon::{StatusParams, StatusResult};
use herma_client::protocol::output::shelf::{ListParams as OutputsParams, Row as Output};
use herma_client::protocol::recall::{Compression, DescribeParams};
use herma_client::protocol::session::chain::ListParams;
use herma_client::protocol::session::chain::Row;
use herma_client::{Client, ClientError};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::plot::{self, Lane};
use crate::request::address;

/// The most sessions that are shown, and that are asked for, of which the most recently active ones are shown.
const SHOWN: usize = 12;
const ASKED: u64 = 100;

/// The most outputs whose times are marked.
const OUTPUTS: u64 = 200;

/// The timeline has the sessions that were active in so many seconds, and begins at most so many seconds ago.
const RECENT: f64 = 86_400.0;
const LONGEST: f64 = 7.0 * 86_400.0;

/// What the view shows of a session.
#[derive(Debug)]
struct Recent {
    row: Row,
    /// The share of its window that the last prompt filled.
    share: Option<f64>,
    compressions: Vec<Compression>,
    outputs: Vec<Output>,
}

pub(crate) fn page(daemon: &Daemon) -> Result<Page, ViewError> {
    let (status, recent) = daemon.ask(|client| Ok((client.status(StatusParams {})?, recent(client)?)))?;
    let body = html! {
        // What the script takes from the page as it is later.
        div #live {
            (overview(&status))
            h2 { "Sessions" }
            @if recent.is_empty() {
                (parts::empty("No session yet. `herma setup` installs herma in your agents and imports what they have."))
            } @else {
                (timeline(&recent))
                (table(&recent))
                p { a href="/sessions" { "All sessions" } }
            }
        }
        h2 #happens { "Events" }
        // The script writes what comes. Without it the page can be loaded again.
        ul #events aria-labelledby="happens" aria-live="polite" {}
        p.quiet #none { "What happens while this page is open is listed here." }
    };
    Ok(Page::new(Section::Now, "Now", body))
}

/// Returns the view without what only a browser with a server has.
pub(crate) fn report(daemon: &Daemon) -> Result<Page, ViewError> {
    let (status, recent) = daemon.ask(|client| Ok((client.status(StatusParams {})?, recent(client)?)))?;
    let body = html! { (overview(&status)) @if !recent.is_empty() { (timeline(&recent)) (table(&recent)) } };
    Ok(Page::new(Section::Now, "Now", body))
}

fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn recent(client: &mut Client) -> Result<Vec<Recent>, ClientError> {
    let since = unix_now() - RECENT;
    // An old session may be the most active one.
    let asked = ListParams { limit: Some(ASKED), since: Some(since), ..ListParams::default() };
    let mut rows = client.session_list(asked)?.sessions;
    if rows.len() < SHOWN {
        rows = client.session_list(ListParams { limit: Some(ASKED), ..ListParams::default() })?.sessions;
    }
    rows.sort_by(|one, other| other.last_active.total_cmp(&one.last_active));
    rows.truncate(SHOWN);
    let outputs = client.output_list(OutputsParams { limit: Some(OUTPUTS), ..OutputsParams::default() })?.outputs;
    let of = |client: &mut Client, row: Row| {
        let described = client.recall_describe(DescribeParams { session: row.session.clone() });
        let compressions = described.map(|found| found.compressions).unwrap_or_default();
        let outputs = outputs.iter().filter(|output| output.session == row.session).cloned().collect();
        Recent { share: parts::fill(&row), row, compressions, outputs }
    };
    Ok(rows.into_iter().map(|row| of(client, row)).collect())
}

fn overview(status: &StatusResult) -> Markup {
    let facts = [
        ("open sessions", parts::number(status.sessions.open)),
        ("sessions", parts::number(status.sessions.total)),
        ("large outputs", format!("{}, {}", parts::number(status.outputs.files), out::size(status.outputs.bytes))),
        ("archive", format!("{}, {}", status.archive.state, out::size(status.archive.bytes))),
        ("memory of the daemon", out::size(status.rss_bytes)),
    ];
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

fn timeline(recent: &[Recent]) -> Markup {
    let now = unix_now();
    let drawn: Vec<&Recent> = recent.iter().filter(|one| now - one.row.last_active < RECENT).collect();
    let begin = drawn.iter().map(|one| one.row.started_at).fold(now, f64::min).max(now - LONGEST);
    let lanes: Vec<Lane> = drawn.into_iter().map(lane).collect();
    html! {
        figure {
            @if lanes.is_empty() { (parts::empty("No session was active in the last day.")) }
            @else {
                (plot::timeline("The sessions of the last day over time", (begin, now), &lanes))
                figcaption {
                    span.quiet { (out::local_time(begin)) " to now" }
                    span.key { i.compaction {} "compaction" }
                    span.key { i.spill {} "large output" }
                }
            }
        }
    }
}

fn lane(one: &Recent) -> Lane {
    let Recent { row, compressions, outputs, .. } = one;
    let compacted = compressions.iter().map(|done| {
        ("compaction", done.time, format!("compaction {}: {} messages left the list", done.generation, done.messages))
    });
    let spilled = outputs
        .iter()
        .map(|output| ("spill", output.created_at, format!("{}: {}", output.tool, out::size(output.bytes))));
    Lane {
        name: parts::name(row.title.as_deref(), &row.preview, &row.session),
        address: address("/session", &[("id", &row.session)]),
        span: (row.started_at, row.last_active),
        marks: compacted.chain(spilled).collect(),
    }
}

fn table(recent: &[Recent]) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "Session" } th scope="col" { "Agent" } th scope="col" { "Window" } th scope="col" { "Messages" } th scope="col" { "Compactions" } th scope="col" { "Outputs" } th scope="col" { "Active" } } }
            tbody {
                @for Recent { row, share, compressions, outputs } in recent {
                    tr {
                        td { (parts::session(&row.session, &parts::name(row.title.as_deref(), &row.preview, &row.session))) }
                        td { (row.agent.as_deref().unwrap_or_default()) }
                        td data-name="window" { @match share { Some(share) => (parts::bar(*share, &format!("{:.0} %", share * 100.0))), None => span.quiet { "not known" } } }
                        td.number data-name="messages" { (parts::number(row.messages)) }
                        td.number data-name="compactions" { (compressions.len()) }
                        td.number data-name="outputs" { (outputs.len()) }
                        td { (parts::time(row.last_active)) }
                    }
                }
            }
        }
    }
}
