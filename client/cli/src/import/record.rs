//! The record of earlier imports. With it, unchanged files are not read again, and removed sessions stay removed.
//!
//! Nothing else depends on it. Without it all files are read again, and the daemon knows which messages it has.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::{Failure, own_file};
use serde::{Deserialize, Serialize};

use super::source::Source;

/// The time between two writes of the record in a long run.
const PAUSE: Duration = Duration::from_secs(1);

/// The most bytes of the record that are read.
const LARGEST: u64 = 256 << 20;

/// The record of the files of one program.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    kept: ImportState,
    is_changed: bool,
    saved: Instant,
    /// Whether the record is never written to disk.
    is_dry: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ImportState {
    /// The files by their paths, if these are text.
    files: BTreeMap<String, Stamp>,
    sessions: BTreeMap<String, ImportedSession>,
}

/// The size and time of a file when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    /// The time of the last change, in nanoseconds since 1970.
    changed: i128,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        Self { bytes: metadata.len(), changed }
    }

    /// Returns the time of the last change, in Unix seconds.
    #[expect(clippy::cast_precision_loss, reason = "a time for people")]
    pub(super) fn seconds(&self) -> f64 {
        self.changed as f64 / 1e9
    }
}

/// The imported part of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ImportedSession {
    /// The number of its messages that the daemon has.
    pub(super) messages: u64,
    /// The hash of the last of them. Empty if unknown.
    pub(super) last: String,
    /// How often the session was rewritten, from 0.
    pub(super) rewritten: u32,
    /// The profile that it was imported into. `None` means the profile of the command.
    pub(super) profile: Option<String>,
    /// The title that was sent to the daemon.
    pub(super) title: Option<String>,
    /// The last row of a database that was read.
    pub(super) row: i64,
    /// It was removed from the archive, and is not imported again.
    pub(super) removed: bool,
    /// The agent itself sends it to herma.
    pub(super) live: bool,
    /// It is a document that is being replaced, so that its absence says nothing.
    pub(super) replacing: bool,
}

impl Record {
    /// Opens the record of a home. With `again` it is empty. With `is_dry` it is never written to disk.
    pub(super) fn open(home: &Path, program: &Source, again: bool, is_dry: bool) -> Self {
        let path = home.join("herma").join("imports").join(format!("{}.json", program.name));
        let kept = match std::fs::metadata(&path) {
            Ok(metadata) if metadata.len() <= LARGEST => std::fs::read(&path).unwrap_or_default(),
            _ => Vec::new(),
        };
        // A record that can't be parsed counts as empty.
        let mut kept: ImportState = serde_json::from_slice(&kept).unwrap_or_default();
        if again {
            kept = ImportState::default();
        }
        Self { path, kept, is_changed: false, saved: Instant::now(), is_dry }
    }

    /// Returns whether a file was read in its current state.
    pub(super) fn has_seen(&self, path: &Path, stamp: &Stamp) -> bool {
        path.to_str().and_then(|path| self.kept.files.get(path)) == Some(stamp)
    }

    pub(super) fn saw(&mut self, path: &Path, stamp: Stamp) {
        // A file whose path is not text is read each time.
        if let Some(path) = path.to_str() {
            self.kept.files.insert(path.to_owned(), stamp);
            self.is_changed = true;
        }
    }

    /// Returns the record of a session, or `None` if it was never seen.
    pub(super) fn session(&self, id: &str) -> Option<&ImportedSession> {
        self.kept.sessions.get(id)
    }

    pub(super) fn know(&mut self, id: &str, known: ImportedSession) {
        self.kept.sessions.insert(id.to_owned(), known);
        self.is_changed = true;
    }

    /// Writes the record to disk if the last write is some time ago.
    pub(super) fn save_sometimes(&mut self) -> Result<(), Failure> {
        if self.saved.elapsed() < PAUSE { Ok(()) } else { self.save() }
    }

    /// Writes the record to disk.
    pub(super) fn save(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.is_changed) || self.is_dry {
            return Ok(());
        }
        self.saved = Instant::now();
        let text = serde_json::to_string(&self.kept).map_err(|error| Failure::File(error.to_string()))?;
        own_file::put_durably(&self.path, text.as_bytes())
            .map_err(|error| Failure::File(format!("{}: {error}", self.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_known_again_and_damage_is_as_nothing() {
        let home = tempfile::tempdir().unwrap();
        let stamp = Stamp { bytes: 7, changed: 9 };
        let mut record = Record::open(home.path(), Source::named("codex").unwrap(), false, false);
        assert!(!record.has_seen(Path::new("/f"), &stamp));
        record.saw(Path::new("/f"), stamp.clone());
        record.know("s", ImportedSession { messages: 3, ..ImportedSession::default() });
        record.save().unwrap();
        let again = Record::open(home.path(), Source::named("codex").unwrap(), false, false);
        assert!(again.has_seen(Path::new("/f"), &stamp));
        assert!(!again.has_seen(Path::new("/f"), &Stamp { bytes: 8, ..stamp }));
        assert_eq!(again.session("s").map(|known| known.messages), Some(3));
        assert_eq!(Record::open(home.path(), Source::named("claude-code").unwrap(), false, false).session("s"), None);
        assert_eq!(Record::open(home.path(), Source::named("codex").unwrap(), true, false).session("s"), None);
        herma_base::user_file::write(&record.path, "{\"sessions\": 7").unwrap();
        assert_eq!(Record::open(home.path(), Source::named("codex").unwrap(), false, false).session("s"), None);
    }
}
