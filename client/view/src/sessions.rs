//! The list of sessions, page by page.

use herma_client::protocol::session::chain::ListParams;
use maud::html;

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The sessions of a page.
const ROWS: u64 = 50;

pub(crate) fn page(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let text = |name: &str| params.get(name).map(str::to_owned);
    let before =
        params.get("before").map(|before| before.parse::<f64>().map_err(|_| ViewError::wrong("`before` is no time")));
    let asked = ListParams {
        limit: Some(ROWS),
        before: before.transpose()?,
        agent: text("agent"),
        folder: text("folder"),
        text: text("q"),
        ..ListParams::default()
    };
    let rows = daemon.ask(|client| client.session_list(asked.clone()))?.sessions;
    let [query, agent, folder] = ["q", "agent", "folder"].map(|name| params.get(name).unwrap_or_default());
    let is_full = rows.len() as u64 == ROWS;
    let older = rows.last().filter(|_| is_full).map(|row| row.started_at.to_string());
    let older = older
        .map(|before| address("/sessions", &[("q", query), ("agent", agent), ("folder", folder), ("before", &before)]));
    let body = html! {
        (parts::search("/sessions", "In titles, first words, folders and branches", query, &[("agent", agent), ("folder", folder)]))
        @for (name, value) in [("agent", agent), ("folder", folder)] {
            @if !value.is_empty() { p { "Only " (name) " " strong { (value) } ". " a href="/sessions" { "Show all" } } }
        }
        @if rows.is_empty() { (parts::empty("No session is like that.")) }
        @else {
            table {
                thead { tr { th scope="col" { "Session" } th scope="col" { "Agent" } th scope="col" { "Folder" } th scope="col" { "Messages" } th scope="col" { "Compactions" } th scope="col" { "Began" } th scope="col" { "Active" } } }
                tbody {
                    @for row in &rows {
                        tr {
                            td { (parts::session(&row.session, &parts::name(row.title.as_deref(), &row.preview, &row.session))) }
                            td { @if let Some(agent) = &row.agent { a href=(address("/sessions", &[("agent", agent)])) { (agent) } } }
                            td { @if let Some(folder) = &row.cwd { a href=(address("/sessions", &[("folder", folder)])) { (parts::line(folder)) } } }
                            td.number data-name="messages" { (parts::number(row.messages)) }
                            td.number data-name="compactions" { (row.generation) }
                            td data-name="began" { (parts::time(row.started_at)) }
                            td data-name="active" { (parts::time(row.last_active)) }
                        }
                    }
                }
            }
        }
        @if let Some(older) = older { nav.pages aria-label="Pages" { a rel="next" href=(older) { "older sessions" } } }
    };
    Ok(Page::new(Section::Sessions, "Sessions", body))
}
