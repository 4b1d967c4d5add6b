//! The messages that a compression took out of a conversation.

use rusqlite::params;

use crate::{Archive, ArchiveError};

/// One compression, to be kept before its result leaves the daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal<'a> {
    /// Names it.
    pub handle: &'a str,
    /// The session.
    pub session: &'a str,
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The summary that stands for the messages.
    pub summary: &'a str,
    /// Position in the list and JSON text of every message whose text left it.
    pub messages: &'a [(u64, &'a str)],
}

impl Archive {
    /// Keeps the messages and moves the session to the next generation, both or
    /// neither.
    ///
    /// # Errors
    /// A failure of the database; nothing is kept then.
    pub fn keep_removed(&mut self, removal: &Removal<'_>) -> Result<(), ArchiveError> {
        let transaction = self.connection.transaction()?;
        transaction
            .prepare_cached(
                "INSERT INTO compression (handle, session, generation, time, summary) VALUES (?1,?2,?3,?4,?5)",
            )?
            .execute(params![removal.handle, removal.session, removal.generation, removal.time, removal.summary])?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO removed (compression, position, message) VALUES (?1,?2,?3)")?;
            for (position, message) in removal.messages {
                insert.execute(params![removal.handle, position, message])?;
            }
        }
        transaction
            .prepare_cached("UPDATE session SET generation = ?2 WHERE id = ?1")?
            .execute(params![removal.session, removal.generation])?;
        transaction.commit()?;
        Ok(())
    }

    /// What a compression took out, in order of position.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn removed(&self, handle: &str) -> Result<Vec<(u64, String)>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT position, message FROM removed WHERE compression = ?1 ORDER BY position")?;
        let rows = query.query_map([handle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::session::{SessionRow, SnapshotRow};

    #[test]
    fn messages_and_generation_change_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(&folder.path().join("archive.db")).unwrap();
        let session = SessionRow {
            id: "s".into(),
            profile: "default".into(),
            agent: None,
            parent: None,
            title: None,
            generation: 0,
            settings: None,
            snapshot: SnapshotRow::default(),
            started_at: 0.0,
            ended_at: None,
            end_reason: None,
        };
        archive.create_session(&session).unwrap();
        let messages = [(3, "{\"a\": 1.0}"), (4, "\"bare\"")];
        let removal = Removal { handle: "h", session: "s", generation: 1, time: 1.0, summary: "", messages: &messages };
        archive.keep_removed(&removal).unwrap();
        assert_eq!(archive.removed("h").unwrap(), [(3, "{\"a\": 1.0}".into()), (4, "\"bare\"".into())]);
        assert_eq!(archive.session("s").unwrap().unwrap().generation, 1);
        let again = Removal { handle: "h", generation: 2, ..removal };
        assert!(archive.keep_removed(&again).is_err());
        assert_eq!(archive.session("s").unwrap().unwrap().generation, 1);
    }
}
