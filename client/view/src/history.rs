//! The changes of a store, each as a difference, with ways back.

use herma_client::protocol::memory::{LogParams, LogRow};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::memory::{LONG, by, name, target};
use crate::page::{Frame, Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The entries of a change that are shown as gone, and as new.
const CHANGED: usize = 20;

/// The changes of a page.
const ROWS: u64 = 30;

pub(crate) fn page(daemon: &Daemon, params: &Params, frame: &Frame) -> Result<Page, ViewError> {
    let target = target(params)?;
    let profile = params.get("profile").unwrap_or(daemon.profile()).to_owned();
    let log = LogParams {
        target: Some(target),
        limit: Some(ROWS),
        before: params.number("before"),
        raw: Some(true),
        ..LogParams::default()
    };
    let found = daemon.ask_of(&profile, |client| client.memory_log(log.clone()))?;
    let is_newest = params.number("before").is_none();
    let last = found.rows.last().map(|row| row.revision.to_string()).filter(|_| found.more);
    let older = last.map(|before| {
        address("/memory/history", &[("target", name(target)), ("profile", &profile), ("before", &before)])
    });
    let body = html! {
        nav aria-label="Back" { a href=(address("/memory", &[("profile", &profile)])) { "Back to the memory" } }
        @if found.rows.is_empty() { (parts::empty("Nothing was changed yet.")) }
        @for (at, row) in found.rows.iter().enumerate() {
            (change(row, &profile, is_newest && at == 0, frame))
        }
        @if found.damaged > 0 { p role="alert" { (found.damaged) " lines of the journal can't be read and are left out." } }
        @if let Some(older) = older { nav.pages aria-label="Pages" { a href=(older) { "older changes" } } }
    };
    Ok(Page::new(Section::Memory, format!("History of {}", name(target)), body))
}

fn change(row: &LogRow, profile: &str, is_newest: bool, frame: &Frame) -> Markup {
    let revision = row.revision.to_string();
    let fields = [("target", name(row.target)), ("profile", profile), ("revision", &*revision)];
    html! {
        article.change {
            h2 { "Revision " (row.revision) ": " (row.action) }
            p.quiet { (parts::time(row.time)) " " (by(row)) }
            (difference(&row.before, &row.after))
            @if is_newest { (frame.button("/memory/undo", &fields, "Undo", &format!("Undo revision {revision}"))) }
            @else { (frame.button("/memory/revert", &fields, "Revert this change", &format!("Revert this change of revision {revision}"))) }
        }
    }
}

/// Returns the entries that came and went.
fn difference(before: &[String], after: &[String]) -> Markup {
    let gone = before.iter().filter(|entry| !after.contains(entry));
    let new = after.iter().filter(|entry| !before.contains(entry));
    html! {
        ul.difference {
            @for entry in gone.take(CHANGED) { li.gone { span.sign { "removed " } del { (parts::beginning(entry, LONG)) } } }
            @for entry in new.take(CHANGED) { li.new { span.sign { "added " } ins { (parts::beginning(entry, LONG)) } } }
        }
    }
}
