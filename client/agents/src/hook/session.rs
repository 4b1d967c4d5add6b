//! Maps an agent's session to one of herma's, and answers each of its events.

mod compactions;
mod names;
mod transcripts;

use std::os::unix::process::parent_id;
use std::path::Path;
use std::time::{Duration, Instant};

use herma_base::Settings;
use herma_client::protocol::constraint::{ListParams, Scope};
use herma_client::protocol::daemon::PingParams;
use herma_client::protocol::ledger::RecordParams;
use herma_client::protocol::output::AdmitParams;
use herma_client::protocol::recall::{Kind, SearchParams, StateParams};
use herma_client::protocol::session::{CloseParams, OpenParams, RefreshParams, Snapshot};
use herma_client::protocol::value::{Content, Size};
use herma_client::protocol::{ErrorKind, limits};
use herma_client::{Client as Daemon, ClientError, Codec};
use serde_json::Value;

use super::context::{self, WindowContext};
use super::facts::shown;
use super::ledger::Changes;
use super::process::ProcessSession;
use super::receipts::{self, Receipt};
use super::state::{self, CLEAR, COMPACT, Notes};
use super::{CONTINUES, HookMessage, HookSender, LONG, definitions, earlier, outputs, short};
use crate::agent::Agent;
use crate::answer;
use crate::event::{Event, EventName};
use crate::programs::missing;
use names::session;
pub(crate) use names::{of_id, of_process};
use transcripts::{ENDING, READING};

/// The most names of files, hosts and ids that the context of a window lists.
const ENTITIES: u64 = 60;

/// The most places that are asked for the first prompt of a session. Some may not fit.
const PLACES: u64 = 6;

/// How long to wait for an agent to write its newest message or result into the transcript.
const WRITING: Duration = Duration::from_millis(500);

/// The pause between two reads of the transcript.
const PAUSE: Duration = Duration::from_millis(10);

/// The reason in the event when a session begins as a copy of another one.
const FORK: &str = "fork";

/// An agent's session during one event.
pub(super) struct Session<'a> {
    home: &'a Path,
    agent: &'static dyn Agent,
    /// The session's id in the daemon.
    id: String,
    daemon: Daemon,
    notes: Notes,
    /// The event to answer.
    name: EventName,
    /// The session that the agent's process had before this event.
    before: Option<ProcessSession>,
    /// The changes of the window that this event made.
    changes: Changes,
    sender: &'a HookSender,
}

impl<'a> Session<'a> {
    /// Connects to the daemon, and starts it if none runs. The beginning of a window is saved first. If the daemon
    /// can't be reached now, the model gets the context at a later event.
    pub(super) fn begin(
        settings: &'a Settings,
        (agent, name): (&'static dyn Agent, EventName),
        event: &Event,
        before: Option<ProcessSession>,
        sender: &'a HookSender,
    ) -> Result<Self, String> {
        let home = settings.place.home.as_path();
        let mut notes = Notes::take(home, agent, &event.id)?;
        notes.state.note_begin(state::unix_now());
        if name == EventName::SessionStart {
            notes.state.begin_window(event.reason.as_deref().unwrap_or_default(), agent.keeps_context());
            notes.save()?;
        }
        let connect = || -> Result<Daemon, ClientError> {
            let daemon = (settings.connect)(&settings.place, Codec::Bincode)?;
            let mut daemon = daemon.with_profile(settings.profile.clone());
            daemon.set_timeout(Some(short()))?;
            daemon.ping(PingParams {})?;
            daemon.set_timeout(Some(LONG))?;
            Ok(daemon)
        };
        let daemon = connect().map_err(|error| error.to_string())?;
        sender.send(HookMessage::Alive);
        let id = session(agent, &event.id, notes.state.rewritten);
        Ok(Self { home, agent, id, daemon, notes, name, before, changes: Changes::default(), sender })
    }

    /// Answers the event.
    pub(super) fn serve(mut self, name: EventName, event: &Event) -> Result<(), String> {
        let served = match name {
            EventName::SessionStart => self.start(event),
            EventName::UserPromptSubmit => self.prompt(event),
            EventName::PostToolUse => self.output(event),
            EventName::PreCompact => self.before_compaction(event),
            EventName::Compact => self.compact(event),
            EventName::Stop => {
                self.await_answer(event);
                self.follow(event, READING)
            }
            EventName::SubagentStop => self.subagent(event),
            EventName::SessionEnd => self.end(event),
        };
        served.and(self.record())
    }

    /// Reports the changes of the event to the daemon's ledger.
    fn record(&mut self) -> Result<(), String> {
        let changes = self.changes.take();
        if changes.is_empty() {
            return Ok(());
        }
        let params = RecordParams { session: self.id.clone(), calls: None, changes: Some(changes) };
        recorded(self.daemon.ledger_record(params).map(drop))
    }

    /// Waits until the transcript has the answer that ended the turn, at most [`WRITING`].
    fn await_answer(&mut self, event: &Event) {
        let Some(path) = self.transcript(event) else { return };
        wait_for(|| self.agent.is_written(&event.value, &path));
    }

    fn start(&mut self, event: &Event) -> Result<(), String> {
        let source = event.reason.as_deref().unwrap_or_default();
        self.notes.state.is_ended = false;
        let before = self.before.take().map(|before| before.id);
        let parent = before.filter(|before| source == CLEAR && *before != event.id);
        if source == FORK {
            // The window already has the context of the original session. The transcript doesn't name that session yet.
            (self.notes.state.has_memory, self.notes.state.has_searched) = (true, true);
            return self.notes.save();
        }
        let snapshot = self.open(event, parent)?;
        let snapshot = if source == COMPACT {
            self.note_compaction();
            // The prompt cache is lost anyway.
            self.daemon.session_refresh(RefreshParams { session: self.id.clone() }).map_err(words)?
        } else {
            self.note_missing_program();
            snapshot
        };
        self.send_context(EventName::SessionStart, &snapshot)?;
        self.follow(event, READING)?;
        state::forget_old(self.home, self.agent);
        self.sweep(&event.id)
    }

    /// Shows the user that the program of the MCP server, or of another hook, is missing.
    fn note_missing_program(&self) {
        if let Some(program) = missing(self.agent) {
            let name = self.agent.name();
            self.sender.send(HookMessage::Note(format!(
                "herma: the settings of {name} start {program}, and there is no such program. `herma hooks install {name}` \
puts that right."
            )));
        }
    }

    /// Records the compaction before this window, if it was the agent's own or the proxy's.
    fn note_compaction(&mut self) {
        let (now, tokens) = (state::unix_now(), std::mem::take(&mut self.notes.state.summary_tokens));
        if self.notes.state.is_after_compaction {
            self.changes.summary(now, tokens);
        } else if self.agent.compaction().has_proxy {
            self.changes.handover(now, tokens);
        }
    }

    fn prompt(&mut self, event: &Event) -> Result<(), String> {
        let prompt = event.value.get("prompt").and_then(Value::as_str).unwrap_or_default();
        // The daemon may have been unreachable when the session began, or the agent didn't report it.
        let has_begun = self.notes.state.has_memory;
        let window = if has_begun {
            None
        } else {
            let snapshot = self.open(event, None)?;
            self.window_context(&snapshot)?
        };
        let earlier = self.earlier_sessions(prompt);
        let texts: Vec<String> = window.into_iter().chain(earlier).collect();
        if !texts.is_empty() {
            let text = texts.join("\n\n");
            self.sender.answer(answer::context(EventName::UserPromptSubmit, &text));
            self.changes.context(state::unix_now(), &text);
            if let Some(key) = self.agent.row_key(prompt) {
                self.notes.state.note_row_with_context(key);
            }
            self.notes.save()?;
        }
        self.follow(event, READING)?;
        if has_begun { Ok(()) } else { self.sweep(&event.id) }
    }

    /// Returns the best places of earlier sessions for the first prompt of a session. A failure is logged.
    fn earlier_sessions(&mut self, prompt: &str) -> Option<String> {
        let state = &mut self.notes.state;
        let is_first = !std::mem::replace(&mut state.has_searched, true) && state.position == 0;
        if !is_first || !earlier::is_searched(prompt) {
            return None;
        }
        let params = SearchParams {
            query: prompt.to_owned(),
            kinds: Some(vec![Kind::Message]),
            limit: Some(PLACES),
            prompt_of: Some(self.id.clone()),
            ..SearchParams::default()
        };
        let found =
            self.daemon.recall_search(params).map_err(|error| self.sender.log(format!("recall: {error}"))).ok()?;
        let text = earlier::text(&found.hits)?;
        self.receipt("earlier sessions", &text, true);
        Some(text)
    }

    /// Saves what was added to the model's context.
    fn receipt(&self, kind: &str, text: &str, whole: bool) {
        let receipt = Receipt {
            time: state::unix_now(),
            session: self.id.clone(),
            kind: kind.to_owned(),
            chars: text.chars().count(),
            text: whole.then(|| text.to_owned()),
        };
        receipts::save(self.home, &receipt);
    }

    /// Sends the context of a window to the model, once in each window.
    fn send_context(&mut self, name: EventName, snapshot: &Snapshot) -> Result<(), String> {
        let Some(text) = self.window_context(snapshot)? else { return Ok(()) };
        self.sender.answer(answer::context(name, &text));
        self.changes.context(state::unix_now(), &text);
        self.notes.save()
    }

    /// Returns the context of a window for the model; `None` if the window has it.
    fn window_context(&mut self, snapshot: &Snapshot) -> Result<Option<String>, String> {
        if self.notes.state.has_memory {
            return Ok(None);
        }
        let (rules, entities) = if self.notes.state.is_after_compaction {
            (self.rules()?, self.entities()?)
        } else {
            (Vec::new(), Vec::new())
        };
        let blocks = [&snapshot.user, &snapshot.memory].into_iter().flatten().map(String::as_str).collect();
        let known = WindowContext { rules: rules.iter().map(String::as_str).collect(), blocks, entities: &entities };
        let text = context::for_window(&known);
        self.receipt("window", &text, false);
        (self.notes.state.has_memory, self.notes.state.is_after_compaction) = (true, false);
        Ok(Some(text))
    }

    fn output(&mut self, event: &Event) -> Result<(), String> {
        let followed = self.follow(event, READING);
        self.changes.tool(state::unix_now(), &event.value);
        let folder = event.transcript.as_ref().map(|path| path.with_extension(""));
        if let Some(large) = outputs::large(&event.value, folder.as_deref()) {
            if !self.notes.state.is_captured {
                self.open(event, None)?;
            }
            self.admit(large)?;
        }
        followed
    }

    fn admit(&mut self, large: outputs::Large) -> Result<(), String> {
        let threshold = u64::try_from(outputs::THRESHOLD).ok().map(Size::Chars);
        let params = AdmitParams {
            session: self.id.clone(),
            tool: large.tool.clone(),
            id: large.id.clone(),
            content: Content::Text(large.text.clone()),
            threshold,
            config: None,
        };
        let result = self.daemon.output_admit(params).map_err(words)?;
        if let (true, Content::Text(text)) = (result.spilled, result.content) {
            let text = outputs::preview(self.agent, &text, result.handle.as_deref());
            let shown = large.shown;
            if let Some(answer) = self.agent.replaced_output(large.with(&text), text.clone()) {
                self.changes.output(state::unix_now(), &text, shown);
                self.sender.answer(answer);
            }
        }
        Ok(())
    }

    fn end(&mut self, event: &Event) -> Result<(), String> {
        let followed = self.follow(event, ENDING);
        if self.notes.state.has_more {
            self.notes.state.is_ended = true;
            self.notes.save()?;
            self.sender.log("the transcript was not read completely; the agent's next session continues");
            return followed;
        }
        let params = CloseParams { session: self.id.clone(), reason: event.reason.clone() };
        self.daemon.session_close(params).map_err(words)?;
        followed
    }

    /// Opens the session, and returns its frozen snapshot of the memories.
    fn open(&mut self, event: &Event, parent: Option<String>) -> Result<Snapshot, String> {
        let named = |id: &str| format!("{}:{id}", self.agent.name());
        let forked = event.transcript.as_deref().and_then(|path| self.agent.origin(&event.id, path));
        let params = OpenParams {
            session: self.id.clone(),
            agent: Some(self.agent.name().to_owned()),
            parent: parent
                .or(forked)
                .or_else(|| event.parent.clone())
                .as_deref()
                .map(named)
                .or_else(|| continued(self.agent, &self.id)),
            model: event.model.clone(),
            cwd: event.value.get("cwd").and_then(Value::as_str).and_then(|cwd| shown(cwd, limits::PATH)),
            captured: Some(true),
            ..OpenParams::default()
        };
        let opened = self.daemon.session_open(params).map_err(words)?;
        (self.notes.state.is_open, self.notes.state.is_captured) = (true, true);
        Ok(opened.snapshot)
    }

    /// Records the definitions of the MCP server, which are in the prompt from the beginning.
    fn note_definitions(&mut self) {
        if self.notes.state.has_definitions {
            return;
        }
        if let Some(tokens) = definitions::of(self.home, self.agent, parent_id()) {
            self.changes.definitions(self.notes.state.began, tokens);
            self.notes.state.has_definitions = true;
        }
    }

    fn rules(&mut self) -> Result<Vec<String>, String> {
        let params = ListParams { session: self.id.clone() };
        let rules = self.daemon.constraint_list(params).map_err(words)?.constraints;
        Ok(rules.into_iter().filter(|rule| rule.scope == Scope::Standing).map(|rule| rule.text).collect())
    }

    fn entities(&mut self) -> Result<Vec<herma_client::protocol::recall::Entity>, String> {
        let params = StateParams { session: self.id.clone(), limit: Some(ENTITIES), ..StateParams::default() };
        Ok(self.daemon.recall_state(params).map_err(words)?.entities)
    }
}

/// Returns the session that this one continues in another agent.
fn continued(agent: &dyn Agent, session: &str) -> Option<String> {
    let value = std::env::var(CONTINUES).ok()?;
    let continued = value.strip_prefix(agent.name())?.strip_prefix('=')?;
    shown(continued, limits::NAME).filter(|continued| continued != session)
}

/// Waits until the agent has written something, at most [`WRITING`].
fn wait_for(is_written: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_written() && began.elapsed() < WRITING {
        std::thread::sleep(PAUSE);
    }
}

/// Ignores the error of a daemon of an earlier version, which has no ledger.
fn recorded(answer: Result<(), ClientError>) -> Result<(), String> {
    match answer {
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::UnknownMethod => Ok(()),
        answer => answer.map_err(|error| format!("the ledger: {error}")),
    }
}

fn words(error: ClientError) -> String {
    error.to_string()
}
