//! What was imported before, so that a file is not read for nothing, and what somebody removed stays removed.
//!
//! Nothing depends on it but that: without it everything is read again, and the daemon knows what it has.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::{Failure, own_file};
use serde::{Deserialize, Serialize};

use super::source::Source;

/// Time between two records of a long run.
const PAUSE: Duration = Duration::from_secs(5);

/// Bytes of the record that are read at most.
const LARGEST: u64 = 256 << 20;

/// The record of one program's files.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    kept: Kept,
    is_changed: bool,
    saved: Instant,
    /// Nothing is put on disk.
    is_dry: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// By their paths, as far as these are text.
    files: BTreeMap<String, Stamp>,
    sessions: BTreeMap<String, Known>,
}

/// How a file looked when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    /// When it was changed, in nanoseconds since 1970.
    changed: i128,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        Self { bytes: metadata.len(), changed }
    }
}

/// What was imported of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Known {
    /// Its messages that the daemon has.
    pub(super) messages: u64,
    /// The hash of the last of them; empty where it is not known.
    pub(super) last: String,
    /// How often it was rewritten, from 0.
    pub(super) rewritten: u32,
    /// The profile that it was imported into; none for that of the command.
    pub(super) profile: Option<String>,
    /// The title that was told.
    pub(super) title: Option<String>,
    /// The last row of a database that was read.
    pub(super) row: i64,
    /// It is no more in the archive: nobody wants it.
    pub(super) removed: bool,
    /// The agent itself keeps it in herma.
    pub(super) live: bool,
}

impl Record {
    /// That of a home; with `again` as if nothing had been read. One that `is_dry` is never put on disk.
    pub(super) fn open(home: &Path, program: &Source, again: bool, is_dry: bool) -> Self {
        let path = home.join("herma").join("imports").join(format!("{}.json", program.name));
        let kept = match std::fs::metadata(&path) {
            Ok(metadata) if metadata.len() <= LARGEST => std::fs::read(&path).unwrap_or_default(),
            _ => Vec::new(),
        };
        // One that can't be read is as none.
        let mut kept: Kept = serde_json::from_slice(&kept).unwrap_or_default();
        if again {
            kept = Kept::default();
        }
        Self { path, kept, is_changed: false, saved: Instant::now(), is_dry }
    }

    /// Whether a file was read when it looked as it does now.
    pub(super) fn has_seen(&self, path: &Path, stamp: &Stamp) -> bool {
        path.to_str().and_then(|path| self.kept.files.get(path)) == Some(stamp)
    }

    pub(super) fn saw(&mut self, path: &Path, stamp: Stamp) {
        // One whose path is no text is read each time.
        if let Some(path) = path.to_str() {
            self.kept.files.insert(path.to_owned(), stamp);
            self.is_changed = true;
        }
    }

    /// What is known of a session; none when it was never seen.
    pub(super) fn session(&self, id: &str) -> Option<&Known> {
        self.kept.sessions.get(id)
    }

    pub(super) fn know(&mut self, id: &str, known: Known) {
        self.kept.sessions.insert(id.to_owned(), known);
        self.is_changed = true;
    }

    /// Puts it on disk, if that was not done for a while.
    pub(super) fn save_sometimes(&mut self) -> Result<(), Failure> {
        if self.saved.elapsed() < PAUSE { Ok(()) } else { self.save() }
    }

    /// Puts it on disk.
    pub(super) fn save(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.is_changed) || self.is_dry {
            return Ok(());
        }
        self.saved = Instant::now();
        let text = serde_json::to_string(&self.kept).map_err(|error| Failure::File(error.to_string()))?;
        own_file::put(&self.path, text.as_bytes())
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
        let mut record = Record::open(home.path(), Source::named("codex"), false, false);
        assert!(!record.has_seen(Path::new("/f"), &stamp));
        record.saw(Path::new("/f"), stamp.clone());
        record.know("s", Known { messages: 3, ..Known::default() });
        record.save().unwrap();
        let again = Record::open(home.path(), Source::named("codex"), false, false);
        assert!(again.has_seen(Path::new("/f"), &stamp));
        assert!(!again.has_seen(Path::new("/f"), &Stamp { bytes: 8, ..stamp }));
        assert_eq!(again.session("s").map(|known| known.messages), Some(3));
        assert_eq!(Record::open(home.path(), Source::named("claude-code"), false, false).session("s"), None);
        assert_eq!(Record::open(home.path(), Source::named("codex"), true, false).session("s"), None);
        herma_base::user_file::write(&record.path, "{\"sessions\": 7").unwrap();
        assert_eq!(Record::open(home.path(), Source::named("codex"), false, false).session("s"), None);
    }
}
