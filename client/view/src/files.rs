//! Memory files, which models write with the tool `memory_20250818`, and their history.

use herma_base::out;
use herma_client::protocol::files::{ListParams, LogParams, ReadParams};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The most bytes of a file that are shown.
const BYTES: usize = 300_000;

/// The changes that are shown.
const CHANGES: u64 = 50;

pub(crate) fn page(daemon: &Daemon) -> Result<Page, ViewError> {
    let found = daemon.ask(|client| client.files_list(ListParams::default()))?;
    let usage = &found.usage;
    let share = usage.bytes as f64 / usage.quota.max(1) as f64;
    let body = html! {
        p { (parts::bar(share, &format!("{} of {}", out::size(usage.bytes), out::size(usage.quota)))) }
        @if found.files.is_empty() { (parts::empty("No memory file yet. Models write them with the tool memory_20250818.")) }
        @else {
            table {
                thead { tr { th scope="col" { "File" } th scope="col" { "Size" } th scope="col" { "Changed" } } }
                tbody {
                    @for file in &found.files {
                        tr {
                            td { a href=(address("/file", &[("path", &file.path)])) { (file.path) } }
                            td.number data-name="size" { (out::size(file.bytes)) }
                            td { (parts::time(file.modified_at)) }
                        }
                    }
                }
            }
        }
        @for one in &found.ignored { p.quiet { (one.path) " is ignored: " (one.reason) } }
    };
    Ok(Page::new(Section::Files, "Memory files", body))
}

/// Returns the view of one file, as it is or as it was at a revision.
pub(crate) fn file(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let path = params.get("path").ok_or_else(|| ViewError::wrong("no file is named"))?;
    let revision = params.number("revision");
    let (file, changes) = daemon.ask(|client| {
        let file = client.files_read(ReadParams { path: path.to_owned(), revision, raw: Some(true) })?;
        let log = LogParams { path: Some(path.to_owned()), limit: Some(CHANGES), ..LogParams::default() };
        Ok((file, client.files_log(log)?.rows))
    })?;
    let shown = parts::beginning(&file.text, BYTES);
    let body = html! {
        p { a href="/files" { "All files" } ", " (out::size(file.bytes)) ", revision " (file.revision) }
        pre.output tabindex="0" { (shown) }
        @if shown.len() < file.text.len() { p.quiet { "The rest is left out here; `herma files read` prints it." } }
        h2 { "History" }
        ol.compactions {
            @for row in &changes {
                li {
                    a href=(address("/file", &[("path", path), ("revision", &row.revision.to_string())])) { "revision " (row.revision) }
                    ": " (row.action) " " (parts::time(row.time)) " " (who(row.agent.as_deref(), row.session.as_deref()))
                }
            }
        }
    };
    Ok(Page::new(Section::Files, path, body))
}

fn who(agent: Option<&str>, session: Option<&str>) -> Markup {
    html! {
        @if let Some(agent) = agent { "by " (agent) " " }
        @if let Some(session) = session { "in " (parts::session(session, &parts::line(session))) }
    }
}
