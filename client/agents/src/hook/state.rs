//! The state of a session that hooks save between two events, in `herma/clients/AGENT` of the home, such as the read
//! position of its transcript. If a state is lost, the transcript is read again; the daemon keeps its messages.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_base::own_file::{self, DiskError, Lock, append_to, make, remove, replace};
use herma_transcripts::{Progress, Repeats, SavedRepeats, SlashCommand};
use serde::{Deserialize, Serialize};

use super::facts::SentFacts;
use super::folder::{PROCESSES, folder, of_all};
use super::handover::Handover;
use crate::agent::Agent;
use crate::event::EventName;

/// The most bytes of a state file that are read.
const LARGEST: u64 = 4 << 20;

/// The most rows with context whose keys are saved.
const MAX_ROWS_WITH_CONTEXT: usize = 20;

/// The most names of tools that are saved.
const TOOLS: usize = 2_000;

/// How long hooks skip a daemon that did not answer in time. Otherwise each hook of a turn would wait for it.
const FROZEN: Duration = Duration::from_secs(5);

/// How long hooks count as in use after the last session began. A user may remove them by hand.
const IN_USE: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The most sessions that are searched for unread transcripts.
const SWEPT: usize = 50;

/// How long the state of a session is kept after its last change, in seconds: 90 days.
const KEPT_S: u64 = 90 * 24 * 3_600;

/// The reasons that agents give when a session begins: after a compaction, in place of another session, or as a new
/// one.
pub(super) const COMPACT: &str = "compact";
pub(super) const CLEAR: &str = "clear";
const STARTUP: &str = "startup";
const RESUME: &str = "resume";

/// The state of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The read position in the transcript, in bytes.
    pub(super) offset: u64,
    /// The generation of the session's list.
    pub(super) generation: u64,
    /// The position of the next message in that list.
    pub(super) position: u64,
    /// The daemon knows the session and its parent.
    pub(super) is_open: bool,
    /// The daemon knows that the session is captured, so that it keeps no secrets of it.
    pub(super) is_captured: bool,
    /// The model has the memories in its current window.
    pub(super) has_memory: bool,
    /// The window begins with a summary of the agent itself, and the model doesn't have the rules and the state of the
    /// work yet.
    pub(super) is_after_compaction: bool,
    /// herma's handoff begins the next window, so the model gets the rules and the state of the work with it.
    pub(super) has_handoff: bool,
    /// The keys of Claude Code's rows to which herma's context is attached.
    pub(super) rows_with_context: Vec<String>,
    /// The number of skipped records of the transcript, by kind.
    pub(super) left_out: BTreeMap<String, u64>,
    /// The names of tools, by the ids of their calls.
    pub(super) tools: HashMap<String, String>,
    /// The agent's name of the session.
    pub(super) name: String,
    /// The path of the transcript.
    pub(super) transcript: Option<PathBuf>,
    /// A hash of the bytes right before the offset. If it differs, the file was rewritten.
    pub(super) before: String,
    /// How often the transcript was rewritten. The session has another name each time.
    pub(super) rewritten: u32,
    /// The id of the last compaction's record.
    pub(super) boundary: Option<String>,
    /// The last slash command whose prompt may follow: the id of its record, and its name if it has no arguments.
    pub(super) command: Option<(String, Option<String>)>,
    /// The log already has a line that the transcript is missing or elsewhere.
    pub(super) is_missed: bool,
    /// The time ran out before the end of the transcript.
    pub(super) has_more: bool,
    /// The session ended before its whole transcript was read.
    pub(super) is_ended: bool,
    /// The text with which the proxy answers the next compaction.
    pub(super) handover: Option<Handover>,
    /// The tokens of the text that replaces the agent's summary, or of the instructions for that summary.
    pub(super) summary_tokens: u64,
    /// The time of the session's first event, in Unix seconds.
    pub(super) began: f64,
    /// The ledger has the definitions of the MCP server.
    pub(super) has_definitions: bool,
    /// Earlier sessions were searched for the first prompt.
    pub(super) has_searched: bool,
    /// The key of the last record that was kept, of agents that send records.
    pub(super) last_record: String,
    /// The facts about the session that the daemon has.
    pub(super) sent_facts: SentFacts,
    known: Vec<u64>,
    may_repeat: bool,
    records: Vec<u64>,
}

impl State {
    /// Saves the time of the first event.
    pub(super) fn note_begin(&mut self, now: f64) {
        if self.began == 0.0 {
            self.began = now;
        }
    }

    /// Handles the beginning of a session, by the reason that the agent gives. The window may be without memory and
    /// rules.
    pub(super) fn begin_window(&mut self, reason: &str, keeps_context: bool) {
        match reason {
            COMPACT => {
                self.has_memory = false;
                self.is_after_compaction = !std::mem::take(&mut self.has_handoff);
                self.handover = None;
            }
            CLEAR | STARTUP => (self.has_memory, self.is_after_compaction) = (false, false),
            // A session that was compacted before needs its rules again.
            RESUME if !keeps_context => (self.has_memory, self.is_after_compaction) = (false, self.generation > 0),
            _ => {}
        }
    }

    /// Saves the key of a prompt's row to which context was attached.
    pub(super) fn note_row_with_context(&mut self, key: String) {
        self.rows_with_context.push(key);
        let excess = self.rows_with_context.len().saturating_sub(MAX_ROWS_WITH_CONTEXT);
        drop(self.rows_with_context.drain(..excess));
    }

    /// Returns the state for the next reader of the transcript.
    pub(super) fn progress(&self) -> Progress {
        let noted =
            SavedRepeats { messages: self.known.clone(), may_repeat: self.may_repeat, records: self.records.clone() };
        Progress {
            tools: self.tools.clone(),
            repeats: Repeats::of(noted),
            boundary: self.boundary.clone(),
            command: self.command.clone().map(|(id, name)| SlashCommand { id, name }),
        }
    }

    /// Resets the state to read the transcript from its beginning, as another session that is already open.
    pub(super) fn read_rewritten(&mut self) {
        let Self { has_memory, is_after_compaction, has_searched, .. } = *self;
        let rewritten = self.rewritten.saturating_add(1);
        *self = Self {
            is_open: true,
            is_captured: true,
            has_memory,
            is_after_compaction,
            has_searched,
            rewritten,
            ..Self::default()
        };
    }

    /// Saves the state of a reader.
    pub(super) fn note(&mut self, progress: Progress) {
        let Progress { tools, repeats, boundary, command } = progress;
        let SavedRepeats { messages, may_repeat, records } = repeats.noted();
        (self.known, self.may_repeat, self.records) = (messages, may_repeat, records);
        (self.boundary, self.command) = (boundary, command.map(|command| (command.id, command.name)));
        self.tools = tools;
        // Calls are answered soon, so among so many hardly one is still open.
        let old: Vec<String> = self.tools.keys().skip(TOOLS).cloned().collect();
        old.iter().for_each(|id| drop(self.tools.remove(id)));
    }
}

/// The state of one session, locked for one process at a time.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    _lock: Lock,
    /// The state itself.
    pub(super) state: State,
}

impl Notes {
    /// Locks the state of a session, and waits if another process has it. The id must be valid.
    ///
    /// # Errors
    /// A folder or a file can't be created.
    pub(super) fn take(home: &Path, agent: &dyn Agent, id: &str) -> Result<Self, String> {
        Self::lock(home, agent, id, |path| Lock::wait(path).map(Some))?
            .ok_or_else(|| format!("{id}: another process has the notes"))
    }

    /// Locks the state, or returns `None` if another process has it.
    ///
    /// # Errors
    /// A folder or a file can't be created.
    pub(super) fn try_take(home: &Path, agent: &dyn Agent, id: &str) -> Result<Option<Self>, String> {
        Self::lock(home, agent, id, Lock::try_now)
    }

    fn lock(
        home: &Path,
        agent: &dyn Agent,
        id: &str,
        lock: impl FnOnce(&Path) -> Result<Option<Lock>, DiskError>,
    ) -> Result<Option<Self>, String> {
        let folder = folder(home, agent);
        let path = folder.join(format!("{id}.json"));
        make(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock = lock(&folder.join(format!("{id}.lock"))).map_err(|error| error.to_string())?;
        let Some(lock) = lock else { return Ok(None) };
        let text = own_file::read(&path, LARGEST).unwrap_or_default();
        Ok(Some(Self { _lock: lock, state: serde_json::from_slice(&text).unwrap_or_default(), path }))
    }

    /// Writes the state to disk.
    ///
    /// # Errors
    /// The file can't be written.
    pub(super) fn save(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let text = serde_json::to_vec(&self.state).map_err(|error| error.to_string())?;
        replace(&self.path, &text).map_err(failed)
    }
}

/// Returns what hooks left out of the sessions in use, by kind.
#[must_use]
pub fn left_out(home: &Path, agent: &dyn Agent) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    let notes = std::fs::read_dir(folder(home, agent)).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in notes.filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        let text = own_file::read(&path, LARGEST).unwrap_or_default();
        let state: State = serde_json::from_slice(&text).unwrap_or_default();
        state.left_out.into_iter().for_each(|(kind, count)| *sums.entry(kind).or_default() += count);
    }
    sums
}

/// Returns the ids of sessions whose transcripts are not read to the end, the most recently changed first.
pub(super) fn unread(home: &Path, agent: &dyn Agent) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder(home, agent)) else { return Vec::new() };
    let notes = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json"));
    let mut dated: Vec<_> =
        notes.map(|entry| (entry.metadata().and_then(|data| data.modified()).ok(), entry.path())).collect();
    dated.sort_by(|one, other| other.cmp(one));
    let has_more = |path: &PathBuf| {
        let state: State = serde_json::from_slice(&own_file::read(path, LARGEST).ok()?).ok()?;
        (std::fs::metadata(state.transcript?).ok()?.len() > state.offset).then_some(())?;
        Some(path.file_stem()?.to_str()?.to_owned())
    };
    dated.iter().take(SWEPT).filter_map(|(_, path)| has_more(path)).collect()
}

/// Removes the states of sessions without changes for long.
pub(super) fn forget_old(home: &Path, agent: &dyn Agent) {
    let folder = folder(home, agent);
    let folders = [folder.join(PROCESSES), folder];
    for entry in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        // A lock file is as old as its first use.
        let is_in_use = entry.path().extension().is_some_and(|ending| ending == "lock")
            && entry.path().with_extension("json").exists();
        if !is_in_use && age.is_some_and(|age| age.as_secs() > KEPT_S) {
            remove(&entry.path());
        }
    }
}

/// Returns how often the transcript of a session was rewritten.
pub(super) fn rewritten(home: &Path, agent: &dyn Agent, id: &str) -> u32 {
    let text = own_file::read(&folder(home, agent).join(format!("{id}.json")), LARGEST).unwrap_or_default();
    serde_json::from_slice(&text).map_or(0, |state: State| state.rewritten)
}

/// Saves that a hook ran.
pub(super) fn ran(home: &Path, agent: &dyn Agent, name: EventName) {
    let folder = folder(home, agent).join("ran");
    // The time is only for `herma hooks status`, so errors are ignored.
    drop(make(&folder).and_then(|()| replace(&folder.join(name.name()), b"")));
}

/// Returns the time of a hook's last run.
pub fn last_run(home: &Path, agent: &dyn Agent, name: EventName) -> Option<SystemTime> {
    std::fs::metadata(folder(home, agent).join("ran").join(name.name())).ok()?.modified().ok()
}

/// Returns the events that an agent and its plugin report.
pub(crate) fn events(agent: &dyn Agent) -> impl Iterator<Item = EventName> {
    agent.events().iter().map(|(event, _)| *event).chain(agent.plugin_events().iter().copied())
}

/// Returns the time of an agent's last event.
pub fn last_event(home: &Path, agent: &dyn Agent) -> Option<SystemTime> {
    events(agent).filter_map(|event| last_run(home, agent, event)).max()
}

/// Returns whether hooks of an agent are in use in this home: a session with them began within [`IN_USE`]. These hooks
/// add the memory to the model's context.
pub(crate) fn is_in_use(home: &Path, agent: &dyn Agent) -> bool {
    // Not every way to start an agent reports the beginning of a session.
    let last = [EventName::SessionStart, EventName::UserPromptSubmit].map(|event| last_run(home, agent, event));
    last.into_iter().flatten().max().and_then(|last| last.elapsed().ok()).is_some_and(|age| age < IN_USE)
}

/// Removes the times of an agent's events, after its hooks were uninstalled.
pub(crate) fn forget_runs(home: &Path, agent: &dyn Agent) {
    for event in events(agent) {
        remove(&folder(home, agent).join("ran").join(event.name()));
    }
}

/// Saves whether the daemon answered in time.
pub(super) fn note_answer(home: &Path, answered: bool) {
    let path = frozen(home);
    if !answered {
        // If this can't be saved, the next hook waits for the daemon too.
        drop(path.parent().map_or(Ok(()), make).and_then(|()| replace(&path, b"")));
    } else if path.exists() {
        remove(&path);
    }
}

/// Returns whether the daemon failed to answer within the last [`FROZEN`].
pub(super) fn is_frozen(home: &Path) -> bool {
    let noted = std::fs::metadata(frozen(home)).and_then(|metadata| metadata.modified());
    noted.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age < FROZEN)
}

fn frozen(home: &Path) -> PathBuf {
    of_all(home).join("frozen")
}

/// Returns the current time in Unix seconds.
pub(crate) fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Writes a line to the daemon's log. The daemon need not run.
pub(crate) fn log(home: &Path, words: &str) {
    let now = jiff::Timestamp::now();
    let words: String = words.chars().map(|char| if char.is_control() { ' ' } else { char }).take(500).collect();
    let folder = home.join("herma");
    let path = folder.join("hermad.log");
    let line = format!("{now:.6}  WARN herma::hook: {words}\n");
    // If the log can't be written, the line is lost.
    drop(make(&folder));
    drop(append_to(&path).and_then(|mut file| file.write_all(line.as_bytes())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_code::ClaudeCode;
    use crate::codex::Codex;

    #[test]
    fn notes_come_back_and_damage_is_as_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mut notes = Notes::take(home.path(), &Codex, "a").unwrap();
        assert_eq!(notes.state, State::default());
        notes.state.offset = 7;
        notes.state.note(Progress {
            tools: HashMap::from([("1".into(), "ls".into())]),
            repeats: Repeats::of(SavedRepeats { messages: vec![u64::MAX], may_repeat: true, records: vec![1] }),
            ..Progress::default()
        });
        notes.save().unwrap();
        let path = notes.path.clone();
        let state = notes.state.clone();
        drop(notes);
        assert_eq!(Notes::take(home.path(), &Codex, "a").unwrap().state, state);
        assert_eq!(Notes::take(home.path(), &ClaudeCode, "a").unwrap().state, State::default());
        replace(&path, b"{\"offset\": ").unwrap();
        assert_eq!(Notes::take(home.path(), &Codex, "a").unwrap().state, State::default());
    }
}
