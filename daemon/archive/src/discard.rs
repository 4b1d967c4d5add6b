//! Tool outputs of a session that its agent no longer needs, each with an id that identifies it.

use rusqlite::params;

use crate::{Archive, ArchiveError, Reader, transcript};

/// The maximum number of remembered outputs of one session. Above it, the oldest are forgotten.
const MOST: u64 = 1_000;

/// An output that the agent no longer needs. The caller defines the format of `id`.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscardRow {
    /// Identifies the messages that it applies to.
    pub id: String,
    /// Why, in the agent's words.
    pub reason: Option<String>,
    /// Since when, in Unix seconds.
    pub at: f64,
}

impl Reader {
    /// Returns the discarded outputs of a session, oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn discards(&self, session: &str) -> Result<Vec<DiscardRow>, ArchiveError> {
        let mut query =
            self.connection.prepare_cached("SELECT id, reason, at FROM discard WHERE session = ?1 ORDER BY at, id")?;
        let rows = query
            .query_map([session], |row| Ok(DiscardRow { id: row.get(0)?, reason: row.get(1)?, at: row.get(2)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Remembers outputs that the agent no longer needs, all or none of them.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn save_discards(&mut self, session: &str, rows: &[DiscardRow]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        transcript::generation_of(&transaction, session)?;
        {
            let mut query = transaction.prepare_cached(
                "INSERT INTO discard (session, id, reason, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session, id) DO UPDATE SET reason = excluded.reason, at = excluded.at",
            )?;
            for row in rows {
                query.execute(params![session, row.id, row.reason, row.at])?;
            }
        }
        transaction
            .prepare_cached(
                "DELETE FROM discard WHERE session = ?1 AND id IN
                 (SELECT id FROM discard WHERE session = ?1 ORDER BY at DESC, id LIMIT -1 OFFSET ?2)",
            )?
            .execute(params![session, MOST])?;
        Ok(transaction.commit()?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{archive, session};

    fn row(id: &str, at: f64, reason: Option<&str>) -> DiscardRow {
        DiscardRow { id: id.into(), reason: reason.map(str::to_owned), at }
    }

    #[test]
    fn discarded_outputs_are_remembered_with_the_newest_reason_and_go_with_the_session() {
        let (_folder, mut archive) = archive();
        let [first, second] = [row("a", 1.0, None), row("b", 2.0, Some("read again"))];
        assert!(matches!(
            archive.save_discards("s", std::slice::from_ref(&first)),
            Err(ArchiveError::NoSession { .. })
        ));
        archive.create_session(&session("s")).unwrap();
        archive.create_session(&session("t")).unwrap();
        archive.save_discards("s", &[first, second.clone()]).unwrap();
        let again = row("a", 3.0, Some("done"));
        archive.save_discards("s", std::slice::from_ref(&again)).unwrap();
        assert_eq!(archive.reader().discards("s").unwrap(), [second, again]);
        crate::copy::copy(archive.connection(), "discard", "session", ("s", "t")).unwrap();
        archive.remove_session("s").unwrap();
        assert!(archive.reader().discards("s").unwrap().is_empty());
        assert_eq!(archive.reader().discards("t").unwrap().len(), 2);
    }

    #[test]
    fn the_oldest_are_forgotten_where_there_are_too_many() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let count = u32::try_from(MOST).unwrap() + 5;
        let rows: Vec<DiscardRow> = (0..count).map(|at| row(&format!("{at:05}"), f64::from(at), None)).collect();
        archive.save_discards("s", &rows).unwrap();
        let there = archive.reader().discards("s").unwrap();
        assert_eq!(there, rows[5..]);
    }
}
