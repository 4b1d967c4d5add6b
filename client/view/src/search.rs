//! Search in everything that is kept.

use herma_base::out;
use herma_client::protocol::recall::{Hit, Kind, Neighbour, SearchParams};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The most places of a page.
const PLACES: u64 = 20;

const KINDS: [(&str, &str, Option<Kind>); 4] = [
    ("", "everything", None),
    ("message", "messages", Some(Kind::Message)),
    ("output", "large outputs", Some(Kind::Output)),
    ("memory", "memory", Some(Kind::Memory)),
];

/// The times since which is searched, in days.
const TIMES: [(&str, &str); 5] =
    [("", "any time"), ("1", "one day"), ("7", "a week"), ("30", "a month"), ("365", "a year")];

pub(crate) fn page(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let query = params.get("q").unwrap_or_default();
    let text = |name: &str| params.get(name).map(str::to_owned);
    let kind = KINDS.iter().find(|(name, ..)| params.get("kind") == Some(name)).and_then(|(.., kind)| *kind);
    let days = params.number("days");
    let asked = SearchParams {
        query: query.to_owned(),
        session: text("session"),
        kinds: kind.map(|kind| vec![kind]),
        since: days.map(|days| now() - days as f64 * 86_400.0),
        limit: Some(PLACES),
        around: Some(1),
        agent: text("agent"),
        folder: text("folder"),
        ..SearchParams::default()
    };
    let found = if query.is_empty() { None } else { Some(daemon.ask(|client| client.recall_search(asked.clone()))?) };
    let body = html! {
        (form(params))
        @if let Some(found) = &found {
            @if let Some(notice) = &found.notice { p.quiet { (notice) } }
            @if found.hits.is_empty() { (parts::empty("Nothing is like that.")) }
            @else {
                p.quiet role="status" { (found.hits.len()) " places, the best first" @if found.more { "; there are more" } }
                ol.hits { @for hit in &found.hits { li { (place(hit)) } } }
            }
        } @else { (parts::empty("A question or any words. Words in double quotes must occur exactly.")) }
    };
    Ok(Page::new(Section::Search, "Search", body))
}

fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn form(params: &Params) -> Markup {
    let value = |name: &str| params.get(name).unwrap_or_default();
    html! {
        form.search role="search" action="/search" {
            label { span { "Search for" } input type="search" name="q" value=(value("q")) maxlength="1000" autofocus; }
            label { span { "Kind" } select name="kind" { @for (name, words, _) in KINDS { option value=(name) selected[value("kind") == name] { (words) } } } }
            label { span { "Since" } select name="days" { @for (name, words) in TIMES { option value=(name) selected[value("days") == name] { (words) } } } }
            label { span { "Agent" } input name="agent" value=(value("agent")) placeholder="claude-code"; }
            label { span { "Repository or folder" } input name="folder" value=(value("folder")) placeholder="/home/me/project"; }
            label { span { "Session" } input name="session" value=(value("session")); }
            button type="submit" { "Search" }
        }
    }
}

/// Returns a hit with the messages next to it.
fn place(hit: &Hit) -> Markup {
    let beside =
        |one: &Neighbour| html! { p.beside { strong { (one.role.as_deref().unwrap_or_default()) } " " (one.snippet) } };
    let lead = match hit.kind {
        Kind::Output => address("/output", &[("handle", &hit.handle)]),
        Kind::Message | Kind::Memory => address("/message", &[("handle", &hit.handle)]),
    };
    html! {
        article.hit {
            p.who {
                @match hit.kind { Kind::Message => "message", Kind::Output => "output", Kind::Memory => "memory" }
                @if let Some(role) = &hit.role { " of " (role) }
                " " (parts::time(hit.time))
                @if let Some(session) = &hit.session { " in " (parts::session(session, &parts::line(session))) }
                @if let Some(folder) = &hit.cwd { " " span.quiet { (out::short(std::path::Path::new(folder))) } }
            }
            @for one in &hit.before { (beside(one)) }
            p.snippet { (parts::marked(&hit.snippet, hit.start, hit.end)) }
            @for one in &hit.after { (beside(one)) }
            p { a href=(lead) { "Open" } }
        }
    }
}
