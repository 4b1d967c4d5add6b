//! A client's session as one of herma's, and what each event does to it.

use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_client::protocol::constraint::{ListParams, Scope};
use herma_client::protocol::context::{CompressParams, ConfigureParams, ConstantsParams, Host};
use herma_client::protocol::daemon::PingParams;
use herma_client::protocol::ledger::{Call, RecordParams};
use herma_client::protocol::output::AdmitParams;
use herma_client::protocol::recall::StateParams;
use herma_client::protocol::session::{CloseParams, OpenParams, RefreshParams, Snapshot};
use herma_client::protocol::value::{Content, Size, TextOrOff, TokensOrConfigured};
use herma_client::protocol::{ErrorKind, Json};
use herma_client::{Client as Daemon, ClientError, Codec};
use herma_transcripts::ModelCall;
use serde_json::{Value, json};

use super::context::{self, Known};
use super::event::{Client, Event, Name};
use super::follow::{Followed, Reached, follow};
use super::handover::{self, Handover};
use super::ledger::{self, Changes};
use super::origin::{has_begun, origin};
use super::state::{self, CLEAR, COMPACT, Current, Notes};
use super::{LONG, Teller, Told, answer, compaction, definitions, file, outputs, proxy, short};
use crate::cli::hooks::missing;
use crate::kept::name;
use crate::mcp::Settings;

/// How long a transcript is read at an event that is none of a compaction: what is left is read at the next one.
const READING: Duration = Duration::from_millis(150);

/// How long it is read when a session or a subagent ends.
const ENDING: Duration = Duration::from_millis(600);

/// How long other sessions are read when one begins.
const SWEEPING: Duration = Duration::from_millis(300);

/// Tokens of a model's window, where nobody says it.
const WINDOW: u64 = 200_000;

/// What says it for Claude Code.
const CLAUDE_CODE_WINDOW: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";

/// How long Claude Code may take to write what it just did, and the pause between two looks.
const WRITING: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);

/// Bytes at the end of a transcript that are looked at.
const END: u64 = 1 << 20;

/// Calls of the model in one report.
const CALLS: usize = 1_000;

/// Names that are asked for.
const ENTITIES: u64 = 60;

/// The folder in which Claude Code has a folder of transcripts for each project.
const PROJECTS: &str = "projects";

/// How they say that one begins as a copy of another one.
const FORK: &str = "fork";

/// What an event is answered with.
pub(super) struct Session<'a> {
    home: &'a Path,
    client: Client,
    /// Herma's name of the session.
    id: String,
    daemon: Daemon,
    notes: Notes,
    /// The event that is answered.
    name: Name,
    /// What the client's process had before this event.
    before: Option<Current>,
    /// What the event changed in the window.
    changes: Changes,
    teller: &'a Teller,
}

impl<'a> Session<'a> {
    /// Connects to the daemon, and starts it if it must be. That a window begins is noted before, for the daemon may be
    /// away: then it is told what it should know once the daemon is back.
    pub(super) fn begin(
        settings: &'a Settings,
        (client, name): (Client, Name),
        event: &Event,
        before: Option<Current>,
        teller: &'a Teller,
    ) -> Result<Self, String> {
        let home = settings.place.home.as_path();
        let mut notes = Notes::take(home, client, &event.id)?;
        notes.state.note_begin(state::unix_now());
        if name == Name::SessionStart {
            notes.state.begin_window(event.reason.as_deref().unwrap_or_default());
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
        teller.tell(Told::Alive);
        let id = session(client, &event.id, notes.state.rewritten);
        Ok(Self { home, client, id, daemon, notes, name, before, changes: Changes::default(), teller })
    }

    /// Answers the event.
    pub(super) fn serve(mut self, name: Name, event: &Event) -> Result<(), String> {
        let served = match name {
            Name::SessionStart => self.start(event),
            Name::UserPromptSubmit => self.prompt(event),
            Name::PostToolUse => self.output(event),
            Name::PreCompact => self.before_compaction(event),
            Name::Compact => self.compact(event),
            Name::Stop => self.follow(event, READING),
            Name::SubagentStop => self.subagent(event),
            Name::SessionEnd => self.end(event),
        };
        served.and(self.record())
    }

    /// Reports what the event changed to the daemon's ledger.
    fn record(&mut self) -> Result<(), String> {
        let changes = self.changes.take();
        if changes.is_empty() {
            return Ok(());
        }
        let params = RecordParams { session: self.id.clone(), calls: None, changes: Some(changes) };
        recorded(self.daemon.ledger_record(params).map(drop))
    }

    fn start(&mut self, event: &Event) -> Result<(), String> {
        let source = event.reason.as_deref().unwrap_or_default();
        self.notes.state.is_ended = false;
        let before = self.before.take().map(|before| before.id);
        let parent = before.filter(|before| source == CLEAR && *before != event.id);
        if source == FORK {
            // Its window has what the session before was told, and no transcript yet that says which one that is.
            self.notes.state.is_told = true;
            return self.notes.save();
        }
        let snapshot = self.open(event, parent)?;
        let snapshot = if source == COMPACT {
            self.note_compaction();
            // The prompt cache is lost anyway.
            self.daemon.session_refresh(RefreshParams { session: self.id.clone() }).map_err(told)?
        } else {
            self.tell_missing();
            snapshot
        };
        self.tell_memories(Name::SessionStart, &snapshot)?;
        self.follow(event, READING)?;
        state::forget_old(self.home, self.client);
        self.sweep(&event.id)
    }

    /// Tells the user of a program that is gone, though this one runs: that of the MCP server, or of another hook.
    fn tell_missing(&self) {
        if let Some(program) = missing(self.client) {
            let name = self.client.name();
            self.teller.tell(Told::Note(format!(
                "herma: the settings of {name} start {program}, and there is no such program. `herma hooks install {name}` \
puts that right."
            )));
        }
    }

    /// A window began behind a compaction of which the daemon doesn't know yet.
    fn note_compaction(&mut self) {
        let (now, tokens) = (state::unix_now(), std::mem::take(&mut self.notes.state.told_for_summary));
        if self.notes.state.is_behind_compaction {
            self.changes.summary(now, tokens);
        } else if self.client == Client::Codex {
            self.changes.handover(now, tokens);
        }
    }

    /// Reads what was not read of other sessions: their end was late, or a hook was killed.
    fn sweep(&mut self, id: &str) -> Result<(), String> {
        let began = Instant::now();
        for other in state::unread(self.home, self.client).into_iter().filter(|other| other != id) {
            let Some(left) = SWEEPING.checked_sub(began.elapsed()) else { return Ok(()) };
            let Some(mut notes) = Notes::try_take(self.home, self.client, &other)? else { continue };
            let Some(path) = notes.state.transcript.clone() else { continue };
            let name = notes.state.name.clone();
            keep(&mut self.daemon, self.client, &mut notes, (&name, &path), left, self.teller)?;
            if !std::mem::take(&mut notes.state.is_ended) || notes.state.has_more {
                continue;
            }
            notes.save()?;
            let session = session(self.client, &name, notes.state.rewritten);
            self.daemon.session_close(CloseParams { session, reason: None }).map_err(told)?;
        }
        Ok(())
    }

    fn prompt(&mut self, event: &Event) -> Result<(), String> {
        // The daemon may have been away when the session began.
        if !self.notes.state.is_told {
            let snapshot = self.open(event, None)?;
            self.tell_memories(Name::UserPromptSubmit, &snapshot)?;
            let prompt = event.value.get("prompt").and_then(Value::as_str).unwrap_or_default();
            self.notes.state.note_row_with_context(prompt);
        }
        self.follow(event, READING)
    }

    /// Says what the model should know, once in a window.
    fn tell_memories(&mut self, name: Name, snapshot: &Snapshot) -> Result<(), String> {
        if self.notes.state.is_told {
            return Ok(());
        }
        let (rules, entities) = match self.notes.state.is_behind_compaction {
            true => (self.rules()?, self.entities()?),
            false => (Vec::new(), Vec::new()),
        };
        let blocks = [&snapshot.user, &snapshot.memory].into_iter().flatten().map(String::as_str).collect();
        let known = Known { rules: rules.iter().map(String::as_str).collect(), blocks, entities: &entities };
        let text = context::for_window(&known);
        self.teller.answer(answer::context(name, &text));
        self.changes.context(state::unix_now(), &text);
        (self.notes.state.is_told, self.notes.state.is_behind_compaction) = (true, false);
        self.notes.save()
    }

    fn output(&mut self, event: &Event) -> Result<(), String> {
        let followed = self.follow(event, READING);
        self.changes.tool(state::unix_now(), &event.value);
        let folder = event.transcript.as_ref().map(|path| path.with_extension(""));
        if let Some(large) = outputs::large(&event.value, folder.as_deref()) {
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
        let result = self.daemon.output_admit(params).map_err(told)?;
        if let (true, Content::Text(text)) = (result.spilled, result.content) {
            let text = outputs::preview(self.client, &text, result.handle.as_deref());
            self.changes.output(state::unix_now(), &text, large.shown);
            self.teller.answer(answer::output(self.client, large.with(&text), text));
        }
        Ok(())
    }

    /// The client is going to compact by itself: all that was said is kept before, and what must not be lost is told.
    fn before_compaction(&mut self, event: &Event) -> Result<(), String> {
        self.notes.state.handover = None;
        self.follow(event, LONG)?;
        // The list of the session gets shorter with the client's, by herma's own record.
        let list = self.compress(event)?;
        self.notes.state.has_handoff = false;
        if let Some(list) = list.filter(|_| self.client == Client::Codex && proxy::is_used(self.home, self.client)) {
            let mark = self.daemon.context_constants(ConstantsParams {}).map_err(told)?.metadata_key;
            let at = state::unix_now();
            let text = handover::text(&list, &mark);
            self.notes.state.told_for_summary = ledger::tokens(text.as_ref().map_or(0, |text| text.chars().count()));
            self.notes.state.handover = text.map(|text| Handover { text, at, window: None });
        }
        self.notes.save()?;
        if self.client == Client::ClaudeCode {
            let (rules, entities) = (self.rules()?, self.entities()?);
            let known =
                Known { rules: rules.iter().map(String::as_str).collect(), blocks: Vec::new(), entities: &entities };
            let text = context::for_summary(&known);
            self.notes.state.told_for_summary = ledger::tokens(text.chars().count());
            self.notes.save()?;
            if !text.is_empty() {
                self.teller.tell(Told::Line(text));
            }
        }
        Ok(())
    }

    /// Claude Code's plugin asks for the rows that stand for the conversation from now on.
    fn compact(&mut self, event: &Event) -> Result<(), String> {
        self.await_newest(event);
        self.follow(event, LONG)?;
        let Some(list) = self.compress(event)? else { return Ok(()) };
        let state = &mut self.notes.state;
        let rows =
            compaction::rows(&list, event.value.get("messages").unwrap_or(&Value::Null), &state.rows_with_context)
                .map_err(|why| format!("the client compacts by itself: {why}"))?;
        state.has_handoff = true;
        state.rows_with_context = vec![rows.last];
        self.notes.save()?;
        self.changes.rows(state::unix_now(), rows.chars, rows.newest);
        self.teller.answer(json!({ "messages": rows.rows }));
        Ok(())
    }

    /// Waits a moment for the newest result of the client's rows to be in the transcript, which the client writes a little
    /// later: what is not there yet would stay whole in the new window.
    fn await_newest(&mut self, event: &Event) {
        let newest = compaction::newest_result(event.value.get("messages").unwrap_or(&Value::Null));
        let Some((id, path)) = newest.zip(self.transcript(event)) else { return };
        let began = Instant::now();
        while !has_result(&path, &id) && began.elapsed() < WRITING {
            std::thread::sleep(PAUSE);
        }
    }

    /// Has the session's list compressed; `None` where nothing gets shorter.
    fn compress(&mut self, event: &Event) -> Result<Option<Vec<Value>>, String> {
        let session = self.id.clone();
        let window = std::env::var(CLAUDE_CODE_WINDOW).ok().and_then(|tokens| tokens.parse().ok());
        let context_length = Some(window.filter(|_| self.client == Client::ClaudeCode).unwrap_or(WINDOW));
        // No message is protected: after a compaction the clients send system prompt and tools again, and the handoff
        // quotes the user's first words.
        let settings = ConfigureParams {
            session: session.clone(),
            context_length,
            protect_first_n: Some(0),
            ..ConfigureParams::default()
        };
        self.daemon.context_configure(settings).map_err(told)?;
        let params = CompressParams {
            session,
            focus: event.focus.clone().map(TextOrOff::Text),
            force: Some(true),
            summarizer: Some("extractive".into()),
            target: Some(TokensOrConfigured::Configured),
            host: Some(host(self.client)),
            ..CompressParams::default()
        };
        let result = self.daemon.context_compress(params).map_err(told)?;
        let Some(result) = result.compressed().filter(|result| result.report.compressed) else { return Ok(None) };
        let list = result.messages.unwrap_or_default();
        let state = &mut self.notes.state;
        (state.generation, state.position) = (result.report.generation, result.report.messages_after);
        self.notes.save()?;
        let mut list: Vec<Value> = list.iter().filter_map(|message| serde_json::from_str(message.get()).ok()).collect();
        outputs::previews(self.client, &mut list);
        Ok(Some(list))
    }

    fn subagent(&mut self, event: &Event) -> Result<(), String> {
        let Some((agent, path)) = &event.subagent else { return self.follow(event, READING) };
        let name = format!("{}/{agent}", event.id);
        let mut notes = Notes::take(self.home, self.client, &format!("{}_{agent}", event.id))?;
        open(&mut self.daemon, self.client, session(self.client, &name, notes.state.rewritten), Some(self.id.clone()))?;
        let kept = keep(&mut self.daemon, self.client, &mut notes, (&name, path), ENDING, self.teller);
        notes.state.is_ended = notes.state.has_more;
        notes.save()?;
        if kept.is_ok() && !notes.state.is_ended {
            let session = session(self.client, &name, notes.state.rewritten);
            self.daemon.session_close(CloseParams { session, reason: None }).map_err(told)?;
        }
        self.follow(event, READING)?;
        kept
    }

    fn end(&mut self, event: &Event) -> Result<(), String> {
        let followed = self.follow(event, ENDING);
        if self.notes.state.has_more {
            self.notes.state.is_ended = true;
            self.notes.save()?;
            self.teller.complain("not all of it is read yet; the next session of the client goes on with it");
            return followed;
        }
        let params = CloseParams { session: self.id.clone(), reason: event.reason.clone() };
        self.daemon.session_close(params).map_err(told)?;
        followed
    }

    /// Opens the session, and gives what it froze of the memories.
    fn open(&mut self, event: &Event, parent: Option<String>) -> Result<Snapshot, String> {
        let named = |id: &str| format!("{}:{id}", self.client.name());
        let forked = event.transcript.as_deref().and_then(|path| origin(self.client, &event.id, path));
        let params = OpenParams {
            session: self.id.clone(),
            agent: Some(self.client.name().to_owned()),
            parent: parent.or(forked).as_deref().map(named),
            model: event.model.clone(),
            ..OpenParams::default()
        };
        let opened = self.daemon.session_open(params).map_err(told)?;
        self.notes.state.is_open = true;
        Ok(opened.snapshot)
    }

    /// Has what was said since the last time kept.
    fn follow(&mut self, event: &Event, time: Duration) -> Result<(), String> {
        let Some(path) = self.transcript(event) else { return Ok(()) };
        let path = &path;
        if !self.notes.state.is_open {
            // What it came out of stands in it with the first thing that is said.
            if !has_begun(self.client, path) {
                return Ok(());
            }
            self.open(event, None)?;
        }
        self.note_definitions();
        let source = (event.id.as_str(), path.as_path());
        let kept = keep(&mut self.daemon, self.client, &mut self.notes, source, time, self.teller);
        self.id = session(self.client, &event.id, self.notes.state.rewritten);
        kept
    }

    /// What the MCP server adds is in the prompt from the beginning.
    fn note_definitions(&mut self) {
        if self.notes.state.has_definitions {
            return;
        }
        if let Some(tokens) = definitions::of(self.home, self.client, parent_id()) {
            self.changes.definitions(self.notes.state.began, tokens);
            self.notes.state.has_definitions = true;
        }
    }

    /// Returns the path of the transcript. In a worktree Claude Code may send a path in the wrong project's folder.
    fn transcript(&mut self, event: &Event) -> Option<PathBuf> {
        let sent = event.transcript.as_ref()?;
        if sent.exists() {
            return Some(sent.clone());
        }
        let found = in_other_project(sent);
        // The client creates the file with the first message.
        let is_due = matches!(self.name, Name::Stop | Name::SessionEnd | Name::PreCompact | Name::Compact);
        let complaint = match &found {
            Some(found) => Some(format!("the transcript is not {}; it is read at {}", sent.display(), found.display())),
            None if is_due => {
                Some(format!("there is no transcript {}, so nothing of the session is kept", sent.display()))
            }
            None => None,
        };
        // One log line for each session.
        if let Some(complaint) = complaint.filter(|_| !self.notes.state.is_missed) {
            self.notes.state.is_missed = true;
            // If this fails, the next event logs it again.
            drop(self.notes.save());
            self.teller.complain(complaint);
        }
        found
    }

    fn rules(&mut self) -> Result<Vec<String>, String> {
        let params = ListParams { session: self.id.clone() };
        let rules = self.daemon.constraint_list(params).map_err(told)?.constraints;
        Ok(rules.into_iter().filter(|rule| rule.scope == Scope::Standing).map(|rule| rule.text).collect())
    }

    fn entities(&mut self) -> Result<Vec<herma_client::protocol::recall::Entity>, String> {
        let params = StateParams { session: self.id.clone(), limit: Some(ENTITIES), ..StateParams::default() };
        Ok(self.daemon.recall_state(params).map_err(told)?.entities)
    }
}

/// Returns the transcript of that name in the folder of another project of Claude Code.
fn in_other_project(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let projects = path.parent()?.parent().filter(|folder| folder.file_name().is_some_and(|name| name == PROJECTS))?;
    let folders = std::fs::read_dir(projects).ok()?;
    folders.flatten().map(|folder| folder.path().join(name)).find(|path| path.is_file())
}

/// What a client can do with a compressed list.
fn host(client: Client) -> Host {
    Host {
        merged_handoff: Some(false),
        // A changed call would lose the thoughts that Claude Code attached to it.
        short_calls: Some(client != Client::ClaudeCode),
        ..Host::default()
    }
}

fn told(error: ClientError) -> String {
    error.to_string()
}

/// Reads a transcript of that name on, for so long, and notes how far. One that was written anew goes on as another
/// session.
fn keep(
    daemon: &mut Daemon,
    client: Client,
    notes: &mut Notes,
    (name, path): (&str, &Path),
    time: Duration,
    teller: &Teller,
) -> Result<(), String> {
    let mut calls = Vec::new();
    let mut read = |notes: &mut Notes, daemon: &mut Daemon| {
        let session = session(client, name, notes.state.rewritten);
        follow(daemon, &Followed { client, name, session: &session, path }, &mut notes.state, &mut calls, time)
    };
    let mut reached = read(notes, daemon);
    if reached == Ok(Reached::Anew) {
        let before = session(client, name, notes.state.rewritten);
        teller.complain(format!("the transcript of {before} was written anew; it is another session from here on"));
        notes.state.read_anew();
        open(daemon, client, session(client, name, notes.state.rewritten), Some(before))?;
        reached = read(notes, daemon);
    }
    if let Err(words) = record_calls(daemon, client, session(client, name, notes.state.rewritten), calls) {
        teller.complain(words);
    }
    notes.state.name = name.to_owned();
    notes.state.has_more = reached != Ok(Reached::End);
    // What was kept before it failed is noted.
    notes.save()?;
    reached.map(drop)
}

/// Whether the end of a transcript has the result of a call.
fn has_result(path: &Path, id: &str) -> bool {
    let wanted = format!("\"tool_use_id\":{}", json!(id));
    file::read_end(path, END).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&wanted))
}

/// Reports calls of the model to the daemon's ledger.
fn record_calls(daemon: &mut Daemon, client: Client, session: String, calls: Vec<ModelCall>) -> Result<(), String> {
    let (provider, api_mode) = match client {
        Client::ClaudeCode => ("anthropic", "anthropic_messages"),
        Client::Codex => ("openai", "codex_responses"),
    };
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

/// A daemon of an earlier version has no ledger.
fn recorded(answer: Result<(), ClientError>) -> Result<(), String> {
    match answer {
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::UnknownMethod => Ok(()),
        answer => answer.map_err(|error| format!("the ledger: {error}")),
    }
}

/// Opens a session that came out of another one.
fn open(daemon: &mut Daemon, client: Client, session: String, parent: Option<String>) -> Result<(), String> {
    let params = OpenParams { session, agent: Some(client.name().to_owned()), parent, ..OpenParams::default() };
    daemon.session_open(params).map(drop).map_err(told)
}

/// Herma's name of a client's session; `None` where no hook has noted it.
pub(crate) fn of_id(home: &Path, client: Client, id: &str) -> Option<String> {
    let is_noted = super::event::is_id(id) && state::folder(home, client).join(format!("{id}.json")).is_file();
    is_noted.then(|| session(client, id, state::rewritten(home, client, id)))
}

/// Herma's name of the session that a process of a client has; `None` where no hook has told it.
pub(crate) fn of_process(home: &Path, client: Client, process: u32) -> Option<String> {
    of_id(home, client, &Current::of(home, client, process)?.id)
}

/// Herma's name of a session whose transcript was written anew so often.
fn session(client: Client, id: &str, rewritten: u32) -> String {
    name(&format!("{}:{id}", client.name()), rewritten)
}
