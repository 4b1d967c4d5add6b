//! The stores: their entries with where they came from, how full they are, and the writes that wait for approval.

use herma_client::protocol::memory::{ListParams, LogParams, LogRow, PendingParams, PendingWrite, StoreView, Target};
use herma_client::protocol::profile;
use maud::{Markup, html};
use serde_json::Value;

use crate::daemon::{Daemon, ViewError};
use crate::page::{self, Frame, Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The most changes in which the origin of an entry is looked for.
const CHANGES: u64 = 1_000;

/// The entries of a store that are shown, and the bytes of each. A store that only agents write has fewer.
const ENTRIES: usize = 200;
pub(crate) const LONG: usize = 4_000;

/// Returns the name of a store on the wire.
pub(crate) const fn name(target: Target) -> &'static str {
    match target {
        Target::Memory => "memory",
        Target::User => "user",
    }
}

/// Returns the store that a request names.
pub(crate) fn target(params: &Params) -> Result<Target, ViewError> {
    [Target::Memory, Target::User]
        .into_iter()
        .find(|target| params.get("target") == Some(name(*target)))
        .ok_or_else(|| ViewError::wrong("the store is `memory` or `user`"))
}

pub(crate) fn page(daemon: &Daemon, params: &Params, frame: &Frame) -> Result<Page, ViewError> {
    let profile = params.get("profile").unwrap_or(daemon.profile()).to_owned();
    let (profiles, stores, changes, pending) = daemon.ask_of(&profile, |client| {
        let profiles = client.profile_list(profile::ListParams {})?.profiles;
        // A person reads what is in the file.
        let stores = client.memory_list(ListParams { target: None, raw: Some(true) })?;
        let log = LogParams { limit: Some(CHANGES), raw: Some(true), ..LogParams::default() };
        let pending = client.memory_pending(PendingParams {})?.pending;
        Ok((profiles, stores, client.memory_log(log)?.rows, pending))
    })?;
    let stores = [
        (Target::User, "USER.md: who you are", stores.user),
        (Target::Memory, "MEMORY.md: what agents noted", stores.memory),
    ];
    let body = html! {
        @if profiles.len() > 1 {
            nav.tabs aria-label="Profiles" {
                @for one in &profiles {
                    a href=(address("/memory", &[("profile", &one.name)])) aria-current=[(one.name == profile).then_some("true")] { (one.name) }
                }
            }
        }
        @if !pending.is_empty() { (inbox(&pending, &profile, frame)) }
        @for (target, title, store) in stores {
            @if let Some(store) = store { (view(target, title, &store, &changes, &profile, frame)) }
        }
    };
    Ok(Page::new(Section::Memory, "Memory", body))
}

fn view(target: Target, title: &str, store: &StoreView, changes: &[LogRow], profile: &str, frame: &Frame) -> Markup {
    let share = store.usage.split('%').next().and_then(|text| text.trim().parse::<f64>().ok()).unwrap_or_default();
    let history = address("/memory/history", &[("target", name(target)), ("profile", profile)]);
    html! {
        section {
            h2 { (title) }
            p { (parts::bar(share / 100.0, &store.usage)) " " a href=(history) { "history, revision " (store.revision) } }
            @if store.over_limit { p role="alert" { "It is longer than its limit, so sessions see only the entries that fit." } }
            @if store.entries.is_empty() { (parts::empty("Nothing is in it yet.")) }
            @if store.entries.len() > ENTRIES { p.quiet { "The first " (ENTRIES) " of " (store.entries.len()) " entries." } }
            ol.entries {
                @for entry in store.entries.iter().take(ENTRIES) {
                    li {
                        p.text { (parts::beginning(entry, LONG)) }
                        @let life = Life::of(entry, target, changes);
                        p.quiet { (life.words()) }
                        @if entry.len() <= LONG {
                            (frame.button("/memory/remove", &[("target", name(target)), ("profile", profile), ("revision", &*store.revision.to_string()), ("entry", entry)], "Remove", &format!("Remove the entry: {}", parts::line(entry))))
                        }
                    }
                }
            }
        }
    }
}

/// What the journal says of an entry.
#[derive(Debug, Default, PartialEq)]
struct Life<'a> {
    /// The change that added it, or gave it its present text.
    newest: Option<&'a LogRow>,
}

impl<'a> Life<'a> {
    /// Finds an entry in the changes of all stores, newest first.
    fn of(entry: &str, target: Target, changes: &'a [LogRow]) -> Self {
        let mut own = changes.iter().filter(|row| row.target == target);
        let has = |entries: &[String]| entries.iter().any(|one| one == entry);
        Self { newest: own.find(|row| has(&row.after) && !has(&row.before)) }
    }

    fn words(&self) -> Markup {
        html! {
            @match self.newest {
                None => "from before the journal",
                Some(row) => {
                    @if row.before.len() == row.after.len() { "changed " } @else { "added " }
                    (parts::time(row.time)) " " (by(row))
                }
            }
        }
    }
}

/// Returns who made a change.
pub(crate) fn by(row: &LogRow) -> Markup {
    html! {
        @if let Some(agent) = &row.agent { "by " (agent) " " }
        @if let Some(session) = &row.session { "in " (parts::session(session, &parts::line(session))) " " }
        @if row.agent.is_none() && row.session.is_none() {
            @if row.action == "external" { "by another program" } @else { "by a person" }
        }
    }
}

/// Returns the writes that wait, those of a session together.
fn inbox(pending: &[PendingWrite], profile: &str, frame: &Frame) -> Markup {
    let mut sessions: Vec<Option<&str>> = Vec::new();
    for write in pending {
        if !sessions.contains(&write.session.as_deref()) {
            sessions.push(write.session.as_deref());
        }
    }
    html! {
        section {
            h2 { "Waiting for approval (" (pending.len()) ")" }
            @for session in sessions {
                @let of_session: Vec<&PendingWrite> = pending.iter().filter(|write| write.session.as_deref() == session).collect();
                @if let Some(session) = session.filter(|_| of_session.len() > 1) {
                    p {
                        (of_session.len()) " of " (parts::session(session, &parts::line(session))) " "
                        (frame.button("/memory/approve", &[("session", session), ("profile", profile)], "Approve all of them", &format!("Approve all of them: {}", parts::line(session))))
                        (frame.button("/memory/reject", &[("session", session), ("profile", profile)], "Reject all of them", &format!("Reject all of them: {}", parts::line(session))))
                    }
                }
                ul.entries { @for write in of_session { (waiting(write, profile, frame)) } }
            }
            @if frame.form.is_none() { p.quiet { "Run `herma view --write` to decide here, or `herma memory pending`." } }
        }
    }
}

fn waiting(write: &PendingWrite, profile: &str, frame: &Frame) -> Markup {
    html! {
        li {
            (whole(write))
            p.quiet {
                (write.action) " in " (name(write.target)) ", " (parts::time(write.created_at))
                @if let Some(agent) = &write.agent { ", by " (agent) }
                @if let Some(session) = &write.session { ", in " (parts::session(session, &parts::line(session))) }
            }
            (frame.button("/memory/approve", &[("id", &write.id), ("profile", profile)], "Approve", &format!("Approve: {}", parts::line(&write.summary))))
            (frame.button("/memory/reject", &[("id", &write.id), ("profile", profile)], "Reject", &format!("Reject: {}", parts::line(&write.summary))))
            @if let (Some(secret), Some(text)) = (&frame.form, text(write)) {
                details {
                    summary { "Edit first" }
                    form method="post" action="/memory/approve" {
                        input type="hidden" name=(page::FORM) value=(secret);
                        input type="hidden" name="id" value=(write.id);
                        input type="hidden" name="profile" value=(profile);
                        label { "The entry" textarea name="content" rows="4" { "\n" (text) } }
                        button type="submit" { "Approve this text" }
                    }
                }
            }
        }
    }
}

/// Returns all that a write would do, because a summary may leave out what matters.
fn whole(write: &PendingWrite) -> Markup {
    let payload: Value = serde_json::from_str(write.payload.get()).unwrap_or_default();
    let steps = match payload.get("operations").and_then(Value::as_array) {
        Some(operations) => operations.clone(),
        None => vec![payload],
    };
    let field = |step: &Value, name: &str| step.get(name).and_then(Value::as_str).map(str::to_owned);
    html! {
        ul.difference {
            @for step in &steps {
                @if let Some(old) = field(step, "old_text") { li.gone { span.sign { "instead of " } del { (old) } } }
                @if let Some(new) = field(step, "content") { li.new { span.sign { "added " } ins { (new) } } }
            }
        }
    }
}

/// Returns the text that a write would add or put in the place of another one.
fn text(write: &PendingWrite) -> Option<String> {
    let payload: Value = serde_json::from_str(write.payload.get()).ok()?;
    let has_text = matches!(write.action.as_str(), "add" | "replace");
    payload.get("content").filter(|_| has_text)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_change_that_gave_an_entry_its_text_is_found() {
        let row = |revision: u64, before: &[&str], after: &[&str]| LogRow {
            target: Target::User,
            revision,
            time: 0.0,
            action: "add".into(),
            session: None,
            agent: Some("a".into()),
            host: None,
            before: before.iter().map(|&entry| entry.to_owned()).collect(),
            after: after.iter().map(|&entry| entry.to_owned()).collect(),
        };
        let changes = [row(3, &["a", "b"], &["a", "c"]), row(2, &["a"], &["a", "b"]), row(1, &[], &["a"])];
        for (entry, revision) in [("c", Some(3)), ("a", Some(1)), ("b", Some(2)), ("d", None)] {
            let found = Life::of(entry, Target::User, &changes).newest.map(|row| row.revision);
            assert_eq!(found, revision, "{entry}");
        }
        assert_eq!(Life::of("a", Target::Memory, &changes).newest, None);
    }
}
