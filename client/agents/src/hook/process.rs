//! Notes about the process of an agent. The agent's hooks and its MCP server are children of that process.

use std::path::{Path, PathBuf};

use herma_base::own_file::{self, make, replace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::folder::{PROCESSES, folder};
use crate::agent::Agent;

/// The most bytes of a note that are read.
const MAX_NOTE_BYTES: u64 = 1 << 16;

/// The session of a process, as named by the agent's last event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessSession {
    /// The agent's id of the session.
    pub(super) id: String,
    /// The transcript of the session.
    pub(super) transcript: Option<PathBuf>,
}

/// The content of a note's file.
#[derive(Debug, Serialize, Deserialize)]
struct Note<T> {
    #[serde(flatten)]
    value: T,
    /// The start time of the process, in the system's ticks. A later process may have the same number.
    #[serde(default)]
    began: Option<u64>,
}

/// The kind of a note. A process has one note of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The process's session.
    Session,
    /// The definitions of the process's MCP server.
    Server,
}

/// Writes a note. Notes are hints, so a failure is ignored. Without them the agent compacts by itself, a session after
/// a clear has no parent, and the ledger has no definitions.
pub(super) fn write<T: Serialize>(home: &Path, agent: &dyn Agent, process: u32, kind: Kind, value: T) {
    let path = path(home, agent, process, kind);
    let Ok(text) = serde_json::to_vec(&Note { value, began: began(process) }) else { return };
    drop(make(path.parent().unwrap_or(home)).and_then(|()| replace(&path, &text)));
}

/// Returns the note of a process; `None` if there is none, or if an earlier process of that number wrote it.
pub(super) fn read<T: DeserializeOwned>(home: &Path, agent: &dyn Agent, process: u32, kind: Kind) -> Option<T> {
    let text = own_file::read(&path(home, agent, process, kind), MAX_NOTE_BYTES).ok()?;
    let note: Note<T> = serde_json::from_slice(&text).ok()?;
    let is_same = note.began.zip(began(process)).is_none_or(|(noted, now)| noted == now);
    is_same.then_some(note.value)
}

fn path(home: &Path, agent: &dyn Agent, process: u32, kind: Kind) -> PathBuf {
    let ending = match kind {
        Kind::Session => "json",
        Kind::Server => "server.json",
    };
    folder(home, agent).join(PROCESSES).join(format!("{process}.{ending}"))
}

/// Returns the start time of a process in ticks since the boot; `None` if the system doesn't report it
/// (proc_pid_stat(5), field 22).
fn began(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the process may contain any character, also parentheses and spaces.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_code::ClaudeCode;
    use crate::codex::Codex;

    fn session(id: &str) -> ProcessSession {
        ProcessSession { id: id.into(), transcript: None }
    }

    #[test]
    fn a_process_has_one_session_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let read = |process| read::<ProcessSession>(home.path(), &ClaudeCode, process, Kind::Session);
        for id in ["a", "b"] {
            write(home.path(), &ClaudeCode, 7, Kind::Session, session(id));
            assert_eq!(read(7), Some(session(id)));
        }
        assert_eq!(read(8), None);
        assert_eq!(super::read::<ProcessSession>(home.path(), &Codex, 7, Kind::Session), None);
    }

    #[test]
    fn another_process_of_the_same_number_has_no_note() {
        let home = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let read = || read::<ProcessSession>(home.path(), &Codex, own, Kind::Session);
        write(home.path(), &Codex, own, Kind::Session, session("own"));
        assert_eq!((read(), began(own).is_some()), (Some(session("own")), cfg!(target_os = "linux")));
        let old = serde_json::to_vec(&Note { value: session("old"), began: Some(1) }).unwrap();
        replace(&path(home.path(), &Codex, own, Kind::Session), &old).unwrap();
        assert_eq!(read(), if cfg!(target_os = "linux") { None } else { Some(session("old")) });
    }
}
