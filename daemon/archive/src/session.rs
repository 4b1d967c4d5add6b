//! Sessions and their frozen snapshots.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::transcript::to_u64;
use crate::{Archive, ArchiveError, Reader};

/// The end reason of a session that another one continues.
pub const ENDED_BY_COMPRESSION: &str = "compression";

/// A stored session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id, as the agent chose it.
    pub id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// The agent.
    pub agent: Option<String>,
    /// The session that it derives from.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Grows by one with each in-place compression.
    pub generation: u64,
    /// The settings from `context.configure`, as JSON.
    pub settings: Option<String>,
    /// The frozen snapshot.
    pub snapshot: SnapshotRow,
    /// When it was first opened, in Unix seconds.
    pub started_at: f64,
    /// When it was closed.
    pub ended_at: Option<f64>,
    /// Why it was closed.
    pub end_reason: Option<String>,
    /// The file of another program that it was imported from.
    pub source: Option<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// The branch of the folder's repository.
    pub branch: Option<String>,
}

/// The names of a session that may become known later. An absent one leaves the stored one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionNames {
    /// A title for people.
    pub title: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The branch of the folder's repository.
    pub branch: Option<String>,
}

impl SessionRow {
    /// Returns an open session with only these fields set.
    #[must_use]
    pub fn new(id: String, profile: String, started_at: f64) -> Self {
        Self {
            id,
            profile,
            agent: None,
            parent: None,
            title: None,
            generation: 0,
            settings: None,
            snapshot: SnapshotRow::default(),
            started_at,
            ended_at: None,
            end_reason: None,
            source: None,
            cwd: None,
            branch: None,
        }
    }
}

/// The frozen snapshot of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The block of MEMORY.md.
    pub memory: Option<String>,
    /// The block of USER.md.
    pub user: Option<String>,
    /// The SHA-256 of both, in hex.
    pub sha256: String,
    /// The revision of MEMORY.md.
    pub memory_revision: u64,
    /// The revision of USER.md.
    pub user_revision: u64,
}

pub(crate) const COLUMNS: &str = "id, profile, agent, parent, title, generation, settings, memory_block, user_block, sha256, \
     memory_revision, user_revision, started_at, ended_at, end_reason, source, cwd, branch";

/// The number of [`COLUMNS`].
pub(crate) const COLUMN_COUNT: usize = 18;

pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
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
        source: row.get(15)?,
        cwd: row.get(16)?,
        branch: row.get(17)?,
    })
}

impl Reader {
    /// Returns the session of that id.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, ArchiveError> {
        let query = format!("SELECT {COLUMNS} FROM session WHERE id = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([id], from_row).optional()?)
    }

    /// Returns how many sessions are open, and how many there are.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn count_sessions(&self) -> Result<(u64, u64), ArchiveError> {
        let query = "SELECT count(*) FILTER (WHERE ended_at IS NULL), count(*) FROM session";
        Ok(self.connection.prepare_cached(query)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Returns the ended sessions with their end times, the earliest first. Sessions from which an open one derives,
    /// directly or through others, are left out.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn closed(&self) -> Result<Vec<(String, f64)>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "WITH RECURSIVE in_use (id) AS (
                 SELECT parent FROM session WHERE ended_at IS NULL AND parent IS NOT NULL
                 UNION
                 SELECT session.parent FROM session JOIN in_use USING (id) WHERE session.parent IS NOT NULL
             )
             SELECT id, ended_at FROM session
             WHERE ended_at IS NOT NULL AND id NOT IN (SELECT id FROM in_use) ORDER BY ended_at, id",
        )?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the bytes of the file that are in use.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn used_bytes(&self) -> Result<u64, ArchiveError> {
        let pragma = |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
        Ok(pragma("page_count")?.saturating_sub(pragma("freelist_count")?) * pragma("page_size")?)
    }

    /// Returns the id and the end time of every session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn endings(&self) -> Result<Vec<(String, Option<f64>)>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT id, ended_at FROM session")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Stores a new session.
    ///
    /// # Errors
    /// A session of that id exists, or a failure of the database.
    pub fn create_session(&self, row: &SessionRow) -> Result<(), ArchiveError> {
        insert(self.connection(), row)
    }

    /// Opens a closed session again; its snapshot stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn reopen_session(&self, id: &str) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET ended_at = NULL, end_reason = NULL WHERE id = ?1 AND ended_at IS NOT NULL";
        self.connection().prepare_cached(query)?.execute([id])?;
        Ok(())
    }

    /// Sets names of a session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn name_session(&self, id: &str, names: &SessionNames) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET title = coalesce(?2, title), agent = coalesce(?3, agent),
                     cwd = coalesce(?4, cwd), branch = coalesce(?5, branch) WHERE id = ?1";
        let SessionNames { title, agent, cwd, branch } = names;
        self.connection().prepare_cached(query)?.execute(params![id, title, agent, cwd, branch])?;
        Ok(())
    }

    /// Closes a session. If it is closed already, the first reason stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn close_session(&self, id: &str, reason: &str, now: f64) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET ended_at = ?2, end_reason = ?3,
                     last_active = max(coalesce(last_active, ?2), ?2) WHERE id = ?1 AND ended_at IS NULL";
        self.connection().prepare_cached(query)?.execute(params![id, now, reason])?;
        Ok(())
    }

    /// Notes that a session was used.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn touch(&self, id: &str, now: f64) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET last_active = max(coalesce(last_active, ?2), ?2) WHERE id = ?1";
        self.connection().prepare_cached(query)?.execute(params![id, now])?;
        Ok(())
    }

    /// Ends the sessions that were open when the daemon stopped. The reason is `crash` and the time is now, because the
    /// time of the crash is unknown. Returns how many it ended. [`Self::reopen_session`] opens one again.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn mark_interrupted(&self, now: f64) -> Result<u64, ArchiveError> {
        let query = "UPDATE session SET ended_at = ?1, end_reason = 'crash' WHERE ended_at IS NULL";
        Ok(to_u64(self.connection().prepare_cached(query)?.execute([now])?))
    }

    /// Saves the settings from `context.configure`.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_settings(&self, id: &str, settings: &str) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET settings = ?2 WHERE id = ?1";
        self.connection().prepare_cached(query)?.execute([id, settings])?;
        Ok(())
    }

    /// Saves a new frozen snapshot of a session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_snapshot(&self, id: &str, snapshot: &SnapshotRow) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET memory_block = ?2, user_block = ?3, sha256 = ?4, memory_revision = ?5, \
                     user_revision = ?6 WHERE id = ?1";
        let SnapshotRow { memory, user, sha256, memory_revision, user_revision } = snapshot;
        let values = params![id, memory, user, sha256, memory_revision, user_revision];
        self.connection().prepare_cached(query)?.execute(values)?;
        Ok(())
    }
}

pub(crate) fn insert(connection: &Connection, row: &SessionRow) -> Result<(), ArchiveError> {
    let query = format!(
        "INSERT INTO session ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)"
    );
    connection.prepare_cached(&query)?.execute(params![
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
        row.end_reason,
        row.source,
        row.cwd,
        row.branch
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests;
