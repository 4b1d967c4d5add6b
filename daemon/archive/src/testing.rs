//! Helpers for the tests of several modules.

use tempfile::TempDir;

use crate::compression::CompressionExtras;
use crate::removed::Removal;
use crate::session::{SessionRow, SnapshotRow};
use crate::{Archive, ArchiveError, Reader};

impl Archive {
    /// Saves a whole compression.
    pub(crate) fn keep_compression(
        &mut self,
        removal: &Removal<'_>,
        extras: &CompressionExtras<'_>,
    ) -> Result<Option<SessionRow>, ArchiveError> {
        self.compression()?.keep(removal, extras)
    }

    /// Saves a compression that changes nothing but the list.
    pub(crate) fn keep_removed(&mut self, removal: &Removal<'_>) -> Result<(), ArchiveError> {
        self.keep_compression(removal, &CompressionExtras::default()).map(drop)
    }
}

impl Reader {
    /// Returns the messages that a compression removed, in order of position.
    pub(crate) fn removed(&self, handle: &str) -> Result<Vec<(u64, String)>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT position, body FROM message WHERE compression = ?1 ORDER BY position, id")?;
        let rows = query.query_map([handle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Checks the whole file for damage. This takes as long as reading it.
    pub(crate) fn check(&self) -> Result<(), ArchiveError> {
        let words: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if words == "ok" { Ok(()) } else { Err(ArchiveError::Damaged { words }) }
    }
}

/// Creates an archive in a folder of its own, which must live as long as the archive.
pub(crate) fn archive() -> (TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(&folder.path().join("archive.db")).unwrap();
    (folder, archive)
}

/// Returns a session that was just opened.
pub(crate) fn session(id: &str) -> SessionRow {
    SessionRow {
        agent: Some("a".into()),
        snapshot: SnapshotRow { memory: Some("m".into()), sha256: "00".into(), ..SnapshotRow::default() },
        ..SessionRow::new(id.into(), "default".into(), 1.5)
    }
}

/// Returns the JSON text of a message.
pub(crate) fn said(role: &str, text: &str) -> String {
    serde_json::json!({ "role": role, "content": text }).to_string()
}
