//! What is noted between two events, in `herma/agents/CLIENT` of the home: where a transcript was read to. What is
//! lost of it is read again; the daemon knows what it has.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_base::own_file::{self, DiskError, Lock, append_to, make, remove, replace};
use herma_transcripts::{Noted, Progress, Repeats, SlashCommand};
use serde::{Deserialize, Serialize};

use super::folder::{PROCESSES, folder, of_all};
use super::handover::Handover;
use crate::agent::Agent;
use crate::event::EventName;

/// Bytes of a note that is read.
const LARGEST: u64 = 4 << 20;

/// The most rows with context that are noted.
const MAX_ROWS_WITH_CONTEXT: usize = 20;

/// Names of tools that are noted.
const TOOLS: usize = 2_000;

/// How long hooks skip a daemon that did not answer in time. Otherwise each hook of a turn would wait for it.
const FROZEN: Duration = Duration::from_secs(5);

/// How long hooks count as in use after the last session began: somebody may remove them by hand.
const IN_USE: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Sessions that are looked at for what was not read.
const SWEPT: usize = 50;

/// How long the note of a session is kept that nothing happened in, in seconds: 90 days.
const KEPT_S: u64 = 90 * 24 * 3_600;

/// How agents say that a session begins behind a compaction, in the place of another one, or anew.
pub(super) const COMPACT: &str = "compact";
pub(super) const CLEAR: &str = "clear";
const STARTUP: &str = "startup";

/// What is known of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The transcript was read to here, in bytes.
    pub(super) offset: u64,
    /// The generation of the session's list.
    pub(super) generation: u64,
    /// The position of the next message in it.
    pub(super) position: u64,
    /// The daemon knows the session, and what it came out of.
    pub(super) is_open: bool,
    /// The model knows the memories in the window that it has.
    pub(super) is_told: bool,
    /// The window begins with a summary that is the agent's own, and the model does not know the rules and the state of
    /// the work yet.
    pub(super) is_behind_compaction: bool,
    /// It knows the rules and the state of the work too: herma's handoff stands in the window.
    pub(super) has_handoff: bool,
    /// The keys of Claude Code's rows to which herma's context is attached.
    pub(super) rows_with_context: Vec<String>,
    /// What was left out of the transcript, by kind.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Names of tools by the ids of their calls.
    pub(super) tools: HashMap<String, String>,
    /// The agent's name of the session.
    pub(super) name: String,
    /// The transcript itself.
    pub(super) transcript: Option<PathBuf>,
    /// What stands right before the offset, as a hash; another one means that the file was written anew.
    pub(super) before: String,
    /// How often it was; the session has another name then.
    pub(super) rewritten: u32,
    /// The id of the last compaction's record.
    pub(super) boundary: Option<String>,
    /// The last slash command whose prompt may follow: the id of its record, and its name if it has no arguments.
    pub(super) command: Option<(String, Option<String>)>,
    /// The log already says that the transcript is missing or elsewhere.
    pub(super) is_missed: bool,
    /// There was more to read than there was time for.
    pub(super) has_more: bool,
    /// The session ended before all of it was read.
    pub(super) is_ended: bool,
    /// What the proxy answers the compaction with that is about to be asked for.
    pub(super) handover: Option<Handover>,
    /// Tokens of the text that takes the place of the agent's summary, or of the instructions for that summary.
    pub(super) summary_tokens: u64,
    /// When the first event of the session came, in Unix seconds.
    pub(super) began: f64,
    /// The ledger has the definitions of the MCP server.
    pub(super) has_definitions: bool,
    known: Vec<u64>,
    may_repeat: bool,
    records: Vec<u64>,
}

impl State {
    /// Notes when the first event came.
    pub(super) fn note_begin(&mut self, now: f64) {
        if self.began == 0.0 {
            self.began = now;
        }
    }

    /// A session begins or goes on, for the reason that the agent gives; it may be a window that knows nothing yet.
    pub(super) fn begin_window(&mut self, reason: &str) {
        match reason {
            COMPACT => {
                self.is_told = false;
                self.is_behind_compaction = !std::mem::take(&mut self.has_handoff);
                self.handover = None;
            }
            CLEAR | STARTUP => (self.is_told, self.is_behind_compaction) = (false, false),
            _ => {}
        }
    }

    /// Notes that context was attached to the row of a prompt.
    pub(super) fn note_row_with_context(&mut self, key: String) {
        self.rows_with_context.push(key);
        let excess = self.rows_with_context.len().saturating_sub(MAX_ROWS_WITH_CONTEXT);
        drop(self.rows_with_context.drain(..excess));
    }

    /// Returns what the next reader of the transcript needs.
    pub(super) fn progress(&self) -> Progress {
        let noted = Noted { messages: self.known.clone(), may_repeat: self.may_repeat, records: self.records.clone() };
        Progress {
            tools: self.tools.clone(),
            repeats: Repeats::of(noted),
            boundary: self.boundary.clone(),
            command: self.command.clone().map(|(id, name)| SlashCommand { id, name }),
        }
    }

    /// The transcript is to be read from its beginning, as another session that is opened.
    pub(super) fn read_rewritten(&mut self) {
        let Self { is_told, is_behind_compaction, .. } = *self;
        let rewritten = self.rewritten.saturating_add(1);
        *self = Self { is_open: true, is_told, is_behind_compaction, rewritten, ..Self::default() };
    }

    /// Notes what a reader knows by now.
    pub(super) fn note(&mut self, progress: Progress) {
        let Progress { tools, repeats, boundary, command } = progress;
        let Noted { messages, may_repeat, records } = repeats.noted();
        (self.known, self.may_repeat, self.records) = (messages, may_repeat, records);
        (self.boundary, self.command) = (boundary, command.map(|command| (command.id, command.name)));
        self.tools = tools;
        // Calls are answered soon: of so many hardly one is open.
        let old: Vec<String> = self.tools.keys().skip(TOOLS).cloned().collect();
        old.iter().for_each(|id| drop(self.tools.remove(id)));
    }
}

/// The notes on one session, which one process at a time has.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    _lock: Lock,
    /// What is noted.
    pub(super) state: State,
}

impl Notes {
    /// Takes the notes on a session; another process that has them is waited for. The id was checked.
    ///
    /// # Errors
    /// A folder or file that can't be made.
    pub(super) fn take(home: &Path, agent: &dyn Agent, id: &str) -> Result<Self, String> {
        Self::lock(home, agent, id, |path| Lock::wait(path).map(Some))?
            .ok_or_else(|| format!("{id}: another process has the notes"))
    }

    /// Takes them if no other process has them.
    ///
    /// # Errors
    /// A folder or file that can't be made.
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

    /// Puts them on disk.
    ///
    /// # Errors
    /// A file that can't be written.
    pub(super) fn save(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let text = serde_json::to_vec(&self.state).map_err(|error| error.to_string())?;
        replace(&self.path, &text).map_err(failed)
    }
}

/// The files of notes on sessions whose transcripts have more than was read of them, those first that changed last.
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

/// Takes away the notes on sessions that nothing happened in for long.
pub(super) fn forget_old(home: &Path, agent: &dyn Agent) {
    let folder = folder(home, agent);
    let folders = [folder.join(PROCESSES), folder];
    for entry in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        // A lock is as old as its first use.
        let is_in_use = entry.path().extension().is_some_and(|ending| ending == "lock")
            && entry.path().with_extension("json").exists();
        if !is_in_use && age.is_some_and(|age| age.as_secs() > KEPT_S) {
            remove(&entry.path());
        }
    }
}

/// How often the transcript of a session was written anew.
pub(super) fn rewritten(home: &Path, agent: &dyn Agent, id: &str) -> u32 {
    let text = own_file::read(&folder(home, agent).join(format!("{id}.json")), LARGEST).unwrap_or_default();
    serde_json::from_slice(&text).map_or(0, |state: State| state.rewritten)
}

/// Notes that a hook ran.
pub(super) fn ran(home: &Path, agent: &dyn Agent, name: EventName) {
    let folder = folder(home, agent).join("ran");
    // Only `herma hooks status` reads it.
    drop(make(&folder).and_then(|()| replace(&folder.join(name.name()), b"")));
}

/// When a hook ran last.
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

/// Whether hooks of an agent are in use here: a session began with them within [`IN_USE`]. These hooks add the memory
/// to the model's context.
pub(crate) fn is_in_use(home: &Path, agent: &dyn Agent) -> bool {
    let last = last_run(home, agent, EventName::SessionStart).and_then(|last| last.elapsed().ok());
    last.is_some_and(|age| age < IN_USE)
}

/// Removes the times of an agent's events, after its hooks were uninstalled.
pub(crate) fn forget_runs(home: &Path, agent: &dyn Agent) {
    for event in events(agent) {
        remove(&folder(home, agent).join("ran").join(event.name()));
    }
}

/// Notes whether the daemon answered in time.
pub(super) fn note_answer(home: &Path, answered: bool) {
    let path = frozen(home);
    if !answered {
        // If the note can't be written, the next hook waits for the daemon too.
        drop(path.parent().map_or(Ok(()), make).and_then(|()| replace(&path, b"")));
    } else if path.exists() {
        remove(&path);
    }
}

/// Whether the daemon failed to answer within the last [`FROZEN`].
pub(super) fn is_frozen(home: &Path) -> bool {
    let noted = std::fs::metadata(frozen(home)).and_then(|metadata| metadata.modified());
    noted.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age < FROZEN)
}

fn frozen(home: &Path) -> PathBuf {
    of_all(home).join("frozen")
}

/// Unix seconds.
pub(crate) fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// A line in the daemon's log, whether or not the daemon is there.
pub(super) fn log(home: &Path, words: &str) {
    let now = jiff::Timestamp::now();
    let words: String = words.chars().map(|char| if char.is_control() { ' ' } else { char }).take(500).collect();
    let folder = home.join("herma");
    let path = folder.join("hermad.log");
    let line = format!("{now:.6}  WARN herma::hook: {words}\n");
    // Where that can't be written either nobody can be told.
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
            repeats: Repeats::of(Noted { messages: vec![u64::MAX], may_repeat: true, records: vec![1] }),
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
