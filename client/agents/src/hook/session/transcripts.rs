//! Finds the transcripts of an agent's sessions, and sends their new messages and calls to the daemon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_client::Client as Daemon;
use herma_client::protocol::Json;
use herma_client::protocol::ledger::{Call, RecordParams};
use herma_client::protocol::session::{CloseParams, OpenParams};
use herma_transcripts::ModelCall;
use serde_json::{Value, json};

use super::names::session;
use super::{Session, recorded, words};
use crate::agent::Agent;
use crate::event::{Event, EventName};
use crate::hook::HookSender;
use crate::hook::facts::Facts;
use crate::hook::follow::{Found, Reached, TranscriptSource, follow, keep_records};
use crate::hook::state::{self, Notes, State};

/// The time limit for a transcript at an ordinary event. The next event reads the rest.
pub(super) const READING: Duration = Duration::from_millis(150);

/// The time limit when a session or a subagent ends.
pub(super) const ENDING: Duration = Duration::from_millis(600);

/// The time limit for all transcripts of other sessions when a session begins.
const SWEEPING: Duration = Duration::from_millis(300);

/// How often records are tried under the next name of their session, because the one before has other messages.
const TRIES: usize = 4;

/// The most calls of the model in one request to the ledger.
const CALLS: usize = 1_000;

impl Session<'_> {
    /// Sends the messages since the last event to the daemon.
    pub(super) fn follow(&mut self, event: &Event, time: Duration) -> Result<(), String> {
        if self.agent.sends_records() {
            return self.keep_records(event);
        }
        let Some(path) = self.transcript(event) else { return Ok(()) };
        let path = &path;
        if !self.notes.state.is_open || !self.notes.state.is_captured {
            // The transcript names the session's parent with the first message.
            if !self.agent.has_begun(path) {
                return Ok(());
            }
            self.open(event, None)?;
        }
        self.note_definitions();
        let source = (event.id.as_str(), path.as_path());
        let kept = keep(&mut self.daemon, self.agent, &mut self.notes, source, time, self.sender);
        self.id = session(self.agent, &event.id, self.notes.state.rewritten);
        kept
    }

    /// Sends the new records of the event to the daemon. The answer at the end of a turn is the key of the last one that
    /// is kept, so that the plugin sends the others again.
    fn keep_records(&mut self, event: &Event) -> Result<(), String> {
        let Some(records) = event.value.get("records").and_then(Value::as_array) else { return Ok(()) };
        if !self.notes.state.is_open || !self.notes.state.is_captured {
            self.open(event, None)?;
        }
        self.note_definitions();
        let Self { id, daemon, agent, notes, sender, name: event_name, .. } = &mut *self;
        let (agent, name) = (*agent, event.id.as_str());
        let mut found = Found::default();
        let mut keep = |notes: &mut Notes, daemon: &mut Daemon| {
            let session = session(agent, name, notes.state.rewritten);
            keep_records(daemon, agent, (name, &session), records, &mut notes.state, &mut found)
        };
        for tried in 0.. {
            if keep(notes, daemon)? {
                break;
            }
            let before = session(agent, name, notes.state.rewritten);
            if tried == TRIES {
                return Err(format!("{before} has other messages, too; the records are not kept"));
            }
            sender.log(format!("{before} has other messages; it is another session from here on"));
            notes.state.read_rewritten();
            notes.save()?;
            open(daemon, agent, session(agent, name, notes.state.rewritten), Some(before))?;
        }
        *id = session(agent, name, notes.state.rewritten);
        send_found(daemon, agent, id, found, &mut notes.state, sender);
        name.clone_into(&mut notes.state.name);
        notes.save()?;
        if *event_name == EventName::Stop {
            sender.answer(json!({ "kept": notes.state.last_record }));
        }
        Ok(())
    }

    pub(super) fn subagent(&mut self, event: &Event) -> Result<(), String> {
        let Some((subagent, path)) = self.agent.subagent(&event.value) else { return self.follow(event, READING) };
        let name = format!("{}/{subagent}", event.id);
        let mut notes = Notes::take(self.home, self.agent, &format!("{}_{subagent}", event.id))?;
        open(&mut self.daemon, self.agent, session(self.agent, &name, notes.state.rewritten), Some(self.id.clone()))?;
        let kept = keep(&mut self.daemon, self.agent, &mut notes, (&name, &path), ENDING, self.sender);
        notes.state.is_ended = notes.state.has_more;
        notes.save()?;
        if kept.is_ok() && !notes.state.is_ended {
            let session = session(self.agent, &name, notes.state.rewritten);
            self.daemon.session_close(CloseParams { session, reason: None }).map_err(words)?;
        }
        self.follow(event, READING)?;
        kept
    }

    /// Reads the rest of other sessions' transcripts. It is unread if a session ended late or a hook was killed.
    pub(super) fn sweep(&mut self, id: &str) -> Result<(), String> {
        let began = Instant::now();
        for other in state::unread(self.home, self.agent).into_iter().filter(|other| other != id) {
            let Some(left) = SWEEPING.checked_sub(began.elapsed()) else { return Ok(()) };
            let Some(mut notes) = Notes::try_take(self.home, self.agent, &other)? else { continue };
            let Some(path) = notes.state.transcript.clone() else { continue };
            let name = notes.state.name.clone();
            keep(&mut self.daemon, self.agent, &mut notes, (&name, &path), left, self.sender)?;
            if !std::mem::take(&mut notes.state.is_ended) || notes.state.has_more {
                continue;
            }
            notes.save()?;
            let session = session(self.agent, &name, notes.state.rewritten);
            self.daemon.session_close(CloseParams { session, reason: None }).map_err(words)?;
        }
        Ok(())
    }

    /// Returns the path of the transcript. In a worktree Claude Code may send a path in the wrong project's folder.
    pub(super) fn transcript(&mut self, event: &Event) -> Option<PathBuf> {
        let sent = event.transcript.as_ref().filter(|_| !self.agent.sends_records())?;
        if sent.exists() {
            return Some(sent.clone());
        }
        let found = self.agent.moved(sent);
        // The agent creates the file with the first message.
        let is_due =
            matches!(self.name, EventName::Stop | EventName::SessionEnd | EventName::PreCompact | EventName::Compact);
        let log_line = match &found {
            Some(found) => Some(format!("the transcript is not {}; it is read at {}", sent.display(), found.display())),
            None if is_due => {
                Some(format!("there is no transcript {}, so nothing of the session is kept", sent.display()))
            }
            None => None,
        };
        // One log line for each session.
        if let Some(log_line) = log_line.filter(|_| !self.notes.state.is_missed) {
            self.notes.state.is_missed = true;
            // If this fails, the next event logs it again.
            drop(self.notes.save());
            self.sender.log(log_line);
        }
        found
    }
}

/// Continues to read a transcript within a time limit, and saves the position. A rewritten transcript becomes another
/// session.
fn keep(
    daemon: &mut Daemon,
    agent: &dyn Agent,
    notes: &mut Notes,
    (name, path): (&str, &Path),
    time: Duration,
    sender: &HookSender,
) -> Result<(), String> {
    let mut found = Found::default();
    let mut read = |notes: &mut Notes, daemon: &mut Daemon| {
        let session = session(agent, name, notes.state.rewritten);
        follow(daemon, &TranscriptSource { agent, name, session: &session, path }, &mut notes.state, &mut found, time)
    };
    let mut reached = read(notes, daemon);
    if reached == Ok(Reached::Rewritten) {
        let before = session(agent, name, notes.state.rewritten);
        sender.log(format!("the transcript of {before} was rewritten; it is another session from here on"));
        notes.state.read_rewritten();
        open(daemon, agent, session(agent, name, notes.state.rewritten), Some(before))?;
        reached = read(notes, daemon);
    }
    let session = session(agent, name, notes.state.rewritten);
    send_found(daemon, agent, &session, found, &mut notes.state, sender);
    notes.state.name = name.to_owned();
    notes.state.has_more = reached != Ok(Reached::End);
    // The daemon has the messages before the failure, so their position is saved too.
    notes.save()?;
    reached.map(drop)
}

/// Sends what a transcript has besides messages. A failure is logged.
fn send_found(
    daemon: &mut Daemon,
    agent: &dyn Agent,
    session: &str,
    found: Found,
    state: &mut State,
    sender: &HookSender,
) {
    for sent in [
        record_calls(daemon, agent, session.to_owned(), found.calls),
        send_facts(daemon, session.to_owned(), found.facts, state),
    ] {
        sent.unwrap_or_else(|words| sender.log(words));
    }
}

/// Reports calls of the model to the daemon's ledger.
fn record_calls(daemon: &mut Daemon, agent: &dyn Agent, session: String, calls: Vec<ModelCall>) -> Result<(), String> {
    let (provider, api_mode) = agent.provider();
    let reported = |call: &ModelCall| {
        Some(Call {
            id: call.id.clone(),
            time: call.time,
            model: call.model.clone(),
            provider: Some(provider.into()),
            api_mode: Some(api_mode.into()),
            usage: Json::parse(call.usage.clone()).ok()?,
        })
    };
    for part in calls.chunks(CALLS) {
        let calls = part.iter().filter_map(reported).collect();
        let params = RecordParams { session: session.clone(), calls: Some(calls), changes: None };
        recorded(daemon.ledger_record(params).map(drop))?;
    }
    Ok(())
}

/// Stores what the transcript says about its session, if the daemon does not have it yet.
fn send_facts(daemon: &mut Daemon, session: String, facts: Facts, state: &mut State) -> Result<(), String> {
    let mut sent = state.sent_facts.clone();
    let Some(params) = facts.news(session, &mut sent) else { return Ok(()) };
    daemon.session_update(params).map_err(|error| format!("what the session is: {error}"))?;
    state.sent_facts = sent;
    Ok(())
}

/// Opens the session of a subagent or of a rewritten transcript, with its parent.
fn open(daemon: &mut Daemon, agent: &dyn Agent, session: String, parent: Option<String>) -> Result<(), String> {
    let agent = Some(agent.name().to_owned());
    let params = OpenParams { session, agent, parent, captured: Some(true), ..OpenParams::default() };
    daemon.session_open(params).map(drop).map_err(words)
}
