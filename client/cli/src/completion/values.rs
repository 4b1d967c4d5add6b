//! The values that a running daemon knows. Without one there are none: a completion starts no daemon.

use std::collections::BTreeSet;

use clap_complete::engine::CompletionCandidate;
use herma_base::{CliContext, out};
use herma_client::protocol::constraint;
use herma_client::protocol::context::pins::PinsParams;
use herma_client::protocol::files;
use herma_client::protocol::memory::{self, PendingParams, StoreView, Target};
use herma_client::protocol::output::shelf;
use herma_client::protocol::profile;
use herma_client::protocol::session::chain::{ListParams, Row};
use herma_client::protocol::visible::visible_line;
use herma_client::{Client, ClientError, Place};

use super::words::Words;
use crate::names;

/// The most values of one completion.
const MOST: u64 = 50;

/// The most sessions among which a short name must be clear.
const CLEAR: u64 = 1000;

/// The columns of the words next to a value.
const MEANING: usize = 60;

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A session that there is.
    Session,
    /// A session by its whole id.
    WholeSession,
    Output,
    Profile,
    Revision,
    FilesRevision,
    Entry,
    MemoryFile,
    PendingWrite,
    Constraint,
    Pin,
    Agent,
}

/// A value, and what a person knows it by.
type Value = (String, String);

/// Returns the values of a kind that begin with `current`.
pub(super) fn of(kind: Kind, current: &str, words: &Words) -> Vec<CompletionCandidate> {
    let found = known(kind, current, words).unwrap_or_default();
    let fits = |(value, _): &Value| value.starts_with(current) && is_plain(value);
    let shown = |(value, meaning): Value| {
        let meaning = out::cut(&visible_line(&meaning), MEANING);
        CompletionCandidate::new(value).help((!meaning.is_empty()).then(|| meaning.into()))
    };
    found.into_iter().filter(fits).map(shown).collect()
}

/// Returns whether every shell reads a value as one word, as it is. Other programs choose some of them.
pub(super) fn is_plain(value: &str) -> bool {
    let is_plain = |char: char| char.is_alphanumeric() || "/_-.,+:@".contains(char);
    !value.is_empty() && !value.starts_with('-') && value.chars().all(is_plain)
}

fn known(kind: Kind, current: &str, words: &Words) -> Result<Vec<Value>, ClientError> {
    let place = Place::find(words.common.home.clone(), words.common.socket.clone())?;
    let client = &mut CliContext { common: &words.common, place }.connect_only()?;
    let session = || words.argument(0).unwrap_or_default().to_owned();
    Ok(match kind {
        Kind::Session => {
            let (rows, limit) = (sessions(client, current)?, Some(CLEAR));
            let all = client.session_list(ListParams { raw: Some(true), limit, ..ListParams::default() })?.sessions;
            let ids: BTreeSet<&str> = all.iter().chain(&rows).map(|row| row.session.as_str()).collect();
            let ids: Vec<&str> = ids.into_iter().collect();
            rows.iter().map(|row| (shortened(&row.session, &ids, current), about(row))).collect()
        }
        Kind::WholeSession => {
            sessions(client, current)?.into_iter().map(|row| (row.session.clone(), about(&row))).collect()
        }
        Kind::Output => outputs(client, current)?,
        Kind::Profile => {
            let profiles = client.profile_list(profile::ListParams {})?.profiles;
            profiles.into_iter().map(|profile| (profile.name, String::new())).collect()
        }
        Kind::Revision => {
            let (target, limit) = (words.store(), Some(MOST));
            let rows = client.memory_log(memory::LogParams { target, limit, ..memory::LogParams::default() })?.rows;
            rows.into_iter().map(|row| (row.revision.to_string(), changed(row.time, &row.action, row.agent))).collect()
        }
        Kind::FilesRevision => {
            let asked = files::LogParams { limit: Some(MOST), ..files::LogParams::default() };
            let rows = client.files_log(asked)?.rows;
            rows.into_iter().map(|row| (row.revision.to_string(), changed(row.time, &row.action, row.agent))).collect()
        }
        Kind::Entry => entries(client, words.store())?,
        Kind::MemoryFile => {
            let files = client.files_list(files::ListParams { path: None })?.files;
            files.into_iter().map(|file| (file.path, out::ago(file.modified_at))).collect()
        }
        Kind::PendingWrite => {
            let waiting = client.memory_pending(PendingParams {})?.pending;
            waiting.into_iter().map(|write| (write.id, write.summary)).collect()
        }
        Kind::Constraint => {
            let session = names::session::resolve(client, &session()).unwrap_or_default();
            let kept = client.constraint_list(constraint::ListParams { session })?.constraints;
            kept.into_iter().map(|kept| (kept.id, kept.text)).collect()
        }
        Kind::Pin => {
            let session = names::session::resolve(client, &session()).unwrap_or_default();
            let pins = client.context_pins(PinsParams { session })?.pins;
            pins.into_iter().map(|pin| (pin.id, pin.text)).collect()
        }
        Kind::Agent => {
            let limit = Some(MOST);
            let rows = client.session_list(ListParams { limit, ..ListParams::default() })?.sessions;
            let mut agents: Vec<String> = rows.into_iter().filter_map(|row| row.agent).collect();
            agents.sort();
            agents.dedup();
            agents.into_iter().map(|agent| (agent, String::new())).collect()
        }
    })
}

/// Returns the newest sessions, or those whose id begins so.
fn sessions(client: &mut Client, current: &str) -> Result<Vec<Row>, ClientError> {
    let prefix = Some(current.to_owned()).filter(|prefix| !prefix.is_empty());
    let raw = Some(prefix.is_some());
    Ok(client.session_list(ListParams { limit: Some(MOST), prefix, raw, ..ListParams::default() })?.sessions)
}

/// Returns the shortest name of a session that begins with `current` and means no other one. A shell may take the colon
/// behind the agent for the end of a word, so names come without the agent if they can.
fn shortened(id: &str, ids: &[&str], current: &str) -> String {
    let short = names::session::short(id);
    let names = [names::session::without_agent(&short), names::session::without_agent(id), &short];
    let is_clear = |name: &&str| name.starts_with(current) && names::session::choose(ids, name) == Some(id);
    names.into_iter().find(is_clear).unwrap_or(id).to_owned()
}

/// Returns a session's age and title.
fn about(row: &Row) -> String {
    format!("{}  {}", out::ago(row.last_active), names::session::title(row))
}

fn outputs(client: &mut Client, current: &str) -> Result<Vec<Value>, ClientError> {
    let prefix = Some(current.to_owned()).filter(|prefix| !prefix.is_empty());
    let rows = client.output_list(shelf::ListParams { session: None, limit: Some(MOST), prefix })?.outputs;
    let kept = rows.into_iter().filter(|row| row.state == shelf::State::Kept);
    Ok(kept.map(|row| (row.handle, format!("{}  {}", row.tool, out::size(row.bytes)))).collect())
}

/// Returns the numbers of a store's entries, with their texts.
fn entries(client: &mut Client, store: Option<Target>) -> Result<Vec<Value>, ClientError> {
    let Some(target) = store else { return Ok(Vec::new()) };
    let views = client.memory_list(memory::ListParams { target: Some(target), raw: None })?;
    let entries = [views.memory, views.user].into_iter().flatten().flat_map(|view: StoreView| view.entries);
    Ok(entries.zip(1..).map(|(entry, number)| (number.to_string(), entry)).collect())
}

fn changed(time: f64, action: &str, agent: Option<String>) -> String {
    let by = agent.map(|agent| format!(" by {agent}")).unwrap_or_default();
    format!("{}  {action}{by}", out::ago(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_a_shell_would_read_is_left_out() {
        for value in ["s-1", "claude-code:5f2a", "/memories/é.md", "out_1f"] {
            assert!(is_plain(value), "{value}");
        }
        for value in ["", "$(id)", "a b", "a;b", "`id`", "-rf", "a\nb", "a'b", "~x", "a*", "a\u{a0}b"] {
            assert!(!is_plain(value), "{value}");
        }
    }

    #[test]
    fn a_session_is_named_as_briefly_as_it_is_clear() {
        let ids = [
            "codex:0123456789abcdef0",
            "codex:0123456700000000000",
            "codex:ff23456789abcdef0",
            "codex:ff23456789abcdef0/agent",
            "plain",
            "codex:plain",
        ];
        let name = |id, current| shortened(id, &ids, current);
        assert_eq!(name(ids[0], ""), "0123456789abcdef0");
        assert_eq!(name(ids[1], ""), "0123456700000000000");
        assert_eq!(name(ids[2], ""), "ff234567");
        assert_eq!(name(ids[2], "codex:f"), "codex:ff234567");
        assert_eq!(name(ids[3], ""), "ff23456789abcdef0/agent");
        assert_eq!((name(ids[4], ""), name(ids[5], "")), ("plain".to_owned(), "codex:plain".to_owned()));
    }
}
