//! Messages of a session that a compression must leave in the list, each with an id that identifies it.

use rusqlite::params;

use crate::{Archive, ArchiveError, Reader, transcript};

/// A pinned message. The caller defines the format of `id`.
#[derive(Debug, Clone, PartialEq)]
pub struct PinRow {
    /// Its id in its session, which identifies the messages that it applies to.
    pub id: String,
    /// The role of the message.
    pub role: String,
    /// The beginning of its text.
    pub text: String,
    /// Tokens of the message, estimated.
    pub tokens: u64,
    /// Since when, in Unix seconds.
    pub at: f64,
    /// Until when, in Unix seconds; `None` if it lasts until it is removed.
    pub until: Option<f64>,
}

impl Reader {
    /// Returns the pins of a session that are in force at a time, oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn pins(&self, session: &str, now: f64) -> Result<Vec<PinRow>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT id, role, text, tokens, at, until FROM pin
             WHERE session = ?1 AND (until IS NULL OR until > ?2) ORDER BY at, id",
        )?;
        let rows = query.query_map(params![session, now], |row| {
            Ok(PinRow {
                id: row.get(0)?,
                role: row.get(1)?,
                text: row.get(2)?,
                tokens: row.get(3)?,
                at: row.get(4)?,
                until: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Saves a pin. A stored pin with the same id only gets the new end. Pins that ended by `row.at` are deleted.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn save_pin(&mut self, session: &str, row: &PinRow) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        transcript::generation_of(&transaction, session)?;
        transaction
            .prepare_cached("DELETE FROM pin WHERE session = ?1 AND until <= ?2")?
            .execute(params![session, row.at])?;
        transaction
            .prepare_cached(
                "INSERT INTO pin (session, id, role, text, tokens, at, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (session, id) DO UPDATE SET until = excluded.until",
            )?
            .execute(params![session, row.id, row.role, row.text, row.tokens, row.at, row.until])?;
        Ok(transaction.commit()?)
    }

    /// Deletes a pin. Returns false if there is none with that id.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn remove_pin(&self, session: &str, id: &str) -> Result<bool, ArchiveError> {
        let mut query = self.connection().prepare_cached("DELETE FROM pin WHERE session = ?1 AND id = ?2")?;
        Ok(query.execute([session, id])? > 0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{archive, session};

    fn pin(id: &str, at: f64, until: Option<f64>) -> PinRow {
        PinRow { id: id.into(), role: "user".into(), text: "the key point".into(), tokens: 5, at, until }
    }

    #[test]
    fn pins_are_kept_until_their_end_or_their_removal() {
        let (_folder, mut archive) = archive();
        assert!(matches!(archive.save_pin("s", &pin("a", 1.0, None)), Err(ArchiveError::NoSession { .. })));
        archive.create_session(&session("s")).unwrap();
        archive.create_session(&session("t")).unwrap();
        for row in [pin("a", 1.0, None), pin("b", 2.0, Some(10.0)), pin("c", 3.0, Some(20.0))] {
            archive.save_pin("s", &row).unwrap();
        }
        let ids = |archive: &Archive, now: f64| -> Vec<String> {
            archive.reader().pins("s", now).unwrap().into_iter().map(|pin| pin.id).collect()
        };
        assert_eq!(ids(&archive, 9.0), ["a", "b", "c"]);
        assert_eq!(ids(&archive, 10.0), ["a", "c"]);
        assert!(archive.reader().pins("t", 0.0).unwrap().is_empty());
        // A message that is pinned again keeps its age. Pins that have ended are deleted by then.
        archive.save_pin("s", &pin("c", 15.0, None)).unwrap();
        assert_eq!(ids(&archive, 1.0), ["a", "c"]);
        assert_eq!(archive.reader().pins("s", 0.0).unwrap().pop(), Some(pin("c", 3.0, None)));
        assert!(archive.remove_pin("s", "a").unwrap());
        assert!(!archive.remove_pin("s", "a").unwrap());
        crate::copy::copy(archive.connection(), "pin", "session", ("s", "t")).unwrap();
        assert_eq!(archive.reader().pins("t", 0.0).unwrap().len(), 1);
        archive.remove_session("s").unwrap();
        assert!(ids(&archive, 0.0).is_empty());
    }
}
