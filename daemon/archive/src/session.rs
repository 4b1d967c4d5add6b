//! Sessions and what was frozen for them.

use rusqlite::{OptionalExtension, Row, params};

use crate::{Archive, ArchiveError};

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id, as the agent chose it.
    pub id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// Which agent.
    pub agent: Option<String>,
    /// The session that it came out of.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Grows by one with each in-place compression.
    pub generation: u64,
    /// What `context.configure` said, as JSON.
    pub settings: Option<String>,
    /// The frozen blocks.
    pub snapshot: SnapshotRow,
    /// When it was first opened, in Unix seconds.
    pub started_at: f64,
    /// When it was closed.
    pub ended_at: Option<f64>,
    /// Why it was closed.
    pub end_reason: Option<String>,
}

/// The frozen blocks of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Of MEMORY.md.
    pub memory: Option<String>,
    /// Of USER.md.
    pub user: Option<String>,
    /// Hex, of both.
    pub sha256: String,
    /// Revision of MEMORY.md.
    pub memory_revision: u64,
    /// Revision of USER.md.
    pub user_revision: u64,
}

const COLUMNS: &str = "id, profile, agent, parent, title, generation, settings, memory_block, user_block, sha256, \
     memory_revision, user_revision, started_at, ended_at, end_reason";

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        profile: row.get(1)?,
        agent: row.get(2)?,
        parent: row.get(3)?,
        title: row.get(4)?,
        generation: row.get(5)?,
        settings: row.get(6)?,
        snapshot: SnapshotRow {
            memory: row.get(7)?,
            user: row.get(8)?,
            sha256: row.get(9)?,
            memory_revision: row.get(10)?,
            user_revision: row.get(11)?,
        },
        started_at: row.get(12)?,
        ended_at: row.get(13)?,
        end_reason: row.get(14)?,
    })
}

impl Archive {
    /// The session of that id.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, ArchiveError> {
        let query = format!("SELECT {COLUMNS} FROM session WHERE id = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([id], from_row).optional()?)
    }

    /// Keeps a new session.
    ///
    /// # Errors
    /// One of that id exists, or a failure of the database.
    pub fn create_session(&self, row: &SessionRow) -> Result<(), ArchiveError> {
        let query =
            format!("INSERT INTO session ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)");
        self.connection.prepare_cached(&query)?.execute(params![
            row.id,
            row.profile,
            row.agent,
            row.parent,
            row.title,
            row.generation,
            row.settings,
            row.snapshot.memory,
            row.snapshot.user,
            row.snapshot.sha256,
            row.snapshot.memory_revision,
            row.snapshot.user_revision,
            row.started_at,
            row.ended_at,
            row.end_reason
        ])?;
        Ok(())
    }

    /// Opens a closed session again; its snapshot stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn reopen_session(&self, id: &str) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET ended_at = NULL, end_reason = NULL WHERE id = ?1 AND ended_at IS NOT NULL";
        self.connection.prepare_cached(query)?.execute([id])?;
        Ok(())
    }

    /// Closes a session; the first reason stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn close_session(&self, id: &str, reason: &str, now: f64) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET ended_at = ?2, end_reason = ?3 WHERE id = ?1 AND ended_at IS NULL";
        self.connection.prepare_cached(query)?.execute(params![id, now, reason])?;
        Ok(())
    }

    /// Keeps what `context.configure` said.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_settings(&self, id: &str, settings: &str) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET settings = ?2 WHERE id = ?1";
        self.connection.prepare_cached(query)?.execute([id, settings])?;
        Ok(())
    }

    /// Keeps what was frozen anew for a session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_snapshot(&self, id: &str, snapshot: &SnapshotRow) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET memory_block = ?2, user_block = ?3, sha256 = ?4, memory_revision = ?5, \
                     user_revision = ?6 WHERE id = ?1";
        let SnapshotRow { memory, user, sha256, memory_revision, user_revision } = snapshot;
        let values = params![id, memory, user, sha256, memory_revision, user_revision];
        self.connection.prepare_cached(query)?.execute(values)?;
        Ok(())
    }

    /// How many sessions are open, and how many there are.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn count_sessions(&self) -> Result<(u64, u64), ArchiveError> {
        let query = "SELECT count(*) FILTER (WHERE ended_at IS NULL), count(*) FROM session";
        Ok(self.connection.prepare_cached(query)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    pub(crate) fn row(id: &str) -> SessionRow {
        SessionRow {
            id: id.into(),
            profile: "default".into(),
            agent: Some("a".into()),
            parent: None,
            title: None,
            generation: 0,
            settings: None,
            snapshot: SnapshotRow { memory: Some("m".into()), sha256: "00".into(), ..SnapshotRow::default() },
            started_at: 1.5,
            ended_at: None,
            end_reason: None,
        }
    }

    #[test]
    fn a_session_comes_back_after_the_file_was_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        Archive::open(&path).unwrap().create_session(&row("../x'\"")).unwrap();
        let archive = Archive::open(&path).unwrap();
        assert_eq!(archive.session("../x'\"").unwrap(), Some(row("../x'\"")));
        assert_eq!(archive.session("other").unwrap(), None);
        assert!(archive.create_session(&row("../x'\"")).is_err());
    }

    #[test]
    fn the_first_reason_to_end_stays_until_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(&folder.path().join("archive.db")).unwrap();
        archive.create_session(&row("s")).unwrap();
        archive.close_session("s", "first", 2.0).unwrap();
        archive.close_session("s", "second", 3.0).unwrap();
        assert_eq!(archive.session("s").unwrap().unwrap().end_reason.as_deref(), Some("first"));
        assert_eq!(archive.count_sessions().unwrap(), (0, 1));
        archive.reopen_session("s").unwrap();
        assert_eq!(archive.count_sessions().unwrap(), (1, 1));
    }

    #[test]
    fn a_snapshot_can_be_taken_anew() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(&folder.path().join("archive.db")).unwrap();
        archive.create_session(&row("s")).unwrap();
        archive.create_session(&row("t")).unwrap();
        let anew =
            SnapshotRow { user: Some("u".into()), sha256: "11".into(), user_revision: 4, ..SnapshotRow::default() };
        archive.save_snapshot("s", &anew).unwrap();
        assert_eq!(archive.session("s").unwrap().unwrap().snapshot, anew);
        assert_eq!(archive.session("t").unwrap(), Some(row("t")));
    }

    #[test]
    fn a_newer_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        drop(Archive::open(&path).unwrap());
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Archive::open(&path), Err(ArchiveError::Newer { found: 99, .. })));
    }
}
