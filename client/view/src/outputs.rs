//! Large outputs of tools: the list, and each one page by page.

use herma_base::out;
use herma_client::protocol::output::search::{Match, SearchParams};
use herma_client::protocol::output::shelf::{ListParams, Row, State};
use herma_client::protocol::output::{Next, ReadParams};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The outputs of the list.
const ROWS: u64 = 200;

/// The lines of a page, and the chars of one whose lines are longer.
const LINES: u64 = 200;
const CHARS: u64 = 40_000;

/// The matches that are shown.
const MATCHES: u64 = 100;

pub(crate) fn page(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let session = params.get("session").map(str::to_owned);
    let asked = ListParams { session: session.clone(), limit: Some(ROWS), ..ListParams::default() };
    let mut rows = daemon.ask(|client| client.output_list(asked.clone()))?.outputs;
    let by_size = params.get("by") == Some("size");
    if by_size {
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    }
    let own = session.as_deref().unwrap_or_default();
    let body = html! {
        nav.tabs aria-label="Order" {
            a href=(address("/outputs", &[("session", own)])) aria-current=[(!by_size).then_some("true")] { "newest first" }
            a href=(address("/outputs", &[("session", own), ("by", "size")])) aria-current=[by_size.then_some("true")] { "largest first" }
        }
        @if let Some(session) = &session { p { "Only of " (parts::session(session, session)) ". " a href="/outputs" { "Show all" } } }
        (list(&rows))
    };
    Ok(Page::new(Section::Outputs, "Outputs", body))
}

/// Returns the table of outputs.
pub(crate) fn list(rows: &[Row]) -> Markup {
    html! {
        @if rows.is_empty() { (parts::empty("No output is kept yet: one with more than 30,000 chars will be.")) }
        @else {
            table {
                thead { tr { th scope="col" { "Output" } th scope="col" { "Session" } th scope="col" { "Size" } th scope="col" { "Stored" } } }
                tbody {
                    @for row in rows {
                        tr {
                            td {
                                @let words = if row.tool.is_empty() { row.handle.as_str() } else { row.tool.as_str() };
                                @if row.state == State::Kept { a href=(address("/output", &[("handle", &row.handle)])) { (words) } }
                                @else { (words) span.quiet { " removed" } }
                            }
                            td { (parts::session(&row.session, &parts::line(&row.session))) }
                            td.number data-name="size" { (out::size(row.bytes)) }
                            td { (parts::time(row.created_at)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the view of one output.
pub(crate) fn output(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let named = params.get("handle").ok_or_else(|| ViewError::wrong("no output is named"))?;
    // The handle of a hit carries its line.
    let (handle, line) = named.split_once(':').map_or((named, None), |(handle, line)| (handle, line.parse().ok()));
    let line = params.number("line").or(line.map(above));
    let query = params.get("q").unwrap_or_default();
    let body = match (query, params.number("offset")) {
        ("", Some(offset)) => chars(daemon, handle, offset)?,
        ("", None) => lines(daemon, handle, line.unwrap_or(1).max(1))?,
        (query, _) => matches(daemon, handle, query)?,
    };
    let body = html! {
        p { a href="/outputs" { "All outputs" } " " code { (handle) } }
        (parts::search("/output", "In this output", query, &[("handle", handle)]))
        (body)
    };
    Ok(Page::new(Section::Outputs, "Output", body))
}

/// Returns the line with which a page begins that shows a line.
fn above(line: u64) -> u64 {
    line.saturating_sub(5).max(1)
}

fn lines(daemon: &Daemon, handle: &str, line: u64) -> Result<Markup, ViewError> {
    let asked =
        ReadParams { handle: Some(handle.to_owned()), line: Some(line), lines: Some(LINES), ..ReadParams::default() };
    let found = daemon.ask(|client| client.output_read(asked.clone()))?;
    if found.text.chars().count() as u64 > CHARS {
        // The lines are too long for a page. A line further on is found by the search, which knows its place.
        return chars(daemon, handle, 0);
    }
    let at = |line: u64| address("/output", &[("handle", handle), ("line", &line.to_string())]);
    let earlier = (line > 1).then(|| at(line.min(found.total_lines + 1).saturating_sub(LINES).max(1)));
    let later = match found.next {
        Some(Next::Line(next)) => Some(at(next)),
        _ => None,
    };
    let last = line.saturating_add(found.text.lines().count() as u64).saturating_sub(1);
    let place = if found.text.is_empty() {
        format!("No such line; it has {}", parts::number(found.total_lines))
    } else {
        format!("Lines {} to {} of {}", parts::number(line), parts::number(last), parts::number(found.total_lines))
    };
    Ok(text(&format!("{place}, {} chars in all", parts::number(found.total_chars)), &found.text, earlier, later))
}

/// Returns a page of an output with long lines.
fn chars(daemon: &Daemon, handle: &str, offset: u64) -> Result<Markup, ViewError> {
    let asked = ReadParams {
        handle: Some(handle.to_owned()),
        offset: Some(offset),
        limit: Some(CHARS),
        ..ReadParams::default()
    };
    let found = daemon.ask(|client| client.output_read(asked.clone()))?;
    let at = |offset: u64| address("/output", &[("handle", handle), ("offset", &offset.to_string())]);
    let earlier = (offset > 0).then(|| at(offset.min(found.total_chars).saturating_sub(CHARS)));
    let later = match found.next {
        Some(Next::Offset(next)) => Some(at(next)),
        _ => None,
    };
    let next = offset.saturating_add(found.text.chars().count() as u64);
    let place =
        format!("Chars {} to {} of {}", parts::number(offset), parts::number(next), parts::number(found.total_chars));
    Ok(text(&place, &found.text, earlier, later))
}

fn text(place: &str, text: &str, earlier: Option<String>, later: Option<String>) -> Markup {
    html! {
        p.quiet { (place) }
        (parts::pages("Pages", earlier.as_deref(), later.as_deref()))
        pre.output tabindex="0" { (text) }
        (parts::pages("Pages, below", earlier.as_deref(), later.as_deref()))
    }
}

/// Returns where a match is shown. A line of which a match shows only a part is too long to be counted in lines.
fn lead(handle: &str, one: &Match) -> String {
    if one.cut {
        return address("/output", &[("handle", handle), ("offset", &one.offset.saturating_sub(200).to_string())]);
    }
    address("/output", &[("handle", handle), ("line", &above(one.line).to_string())])
}

fn matches(daemon: &Daemon, handle: &str, query: &str) -> Result<Markup, ViewError> {
    let asked = SearchParams {
        query: query.to_owned(),
        handle: Some(handle.to_owned()),
        limit: Some(MATCHES),
        ..SearchParams::default()
    };
    let found = daemon.ask(|client| client.output_search(asked.clone()))?;
    Ok(html! {
        @if found.matches.is_empty() { (parts::empty("No line has that.")) }
        ol.hits {
            @for one in &found.matches {
                li {
                    a href=(lead(handle, one)) { "line " (parts::number(one.line)) }
                    pre.text { (parts::marked(&one.text, one.start, one.end)) }
                }
            }
        }
        @if found.more { p.quiet { "There are more lines with it." } }
    })
}
