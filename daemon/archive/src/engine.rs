//! The memory that an engine keeps of a session between two calls.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{Archive, ArchiveError, Reader};

/// The stored engine memory of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineRow {
    /// Its figures, as JSON. The caller defines the fields.
    pub state: String,
    /// The body of the last summary. It is separate because it is long and changes only with a compression.
    pub summary: Option<String>,
}

impl Reader {
    /// Returns the stored engine memory of a session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn engine(&self, session: &str) -> Result<Option<EngineRow>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT state, summary FROM engine WHERE session = ?1")?;
        Ok(query.query_row([session], |row| Ok(EngineRow { state: row.get(0)?, summary: row.get(1)? })).optional()?)
    }
}

impl Archive {
    /// Saves the figures and the summary of an existing session. A session that was removed meanwhile gets no row.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_engine(&self, session: &str, row: &EngineRow) -> Result<(), ArchiveError> {
        save(self.connection(), session, row)
    }

    /// Saves the figures of an existing session; the summary stays unchanged. This call may come late: a session that
    /// was removed meanwhile gets no row.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_engine_state(&self, session: &str, state: &str) -> Result<(), ArchiveError> {
        let query = "INSERT INTO engine (session, state) SELECT id, ?2 FROM session WHERE id = ?1
                     ON CONFLICT (session) DO UPDATE SET state = excluded.state";
        self.connection().prepare_cached(query)?.execute(params![session, state])?;
        Ok(())
    }

    /// Runs `work` in one transaction with one sync, all or nothing. It may combine several functions of this crate, of
    /// which none may begin a transaction of its own.
    ///
    /// # Errors
    /// An error of `work`, or a failure of the database.
    pub fn together(&self, work: impl FnOnce(&Self) -> Result<(), ArchiveError>) -> Result<(), ArchiveError> {
        let transaction = self.connection().unchecked_transaction()?;
        work(self)?;
        transaction.commit()?;
        Ok(())
    }
}

pub(crate) fn save(connection: &Connection, session: &str, row: &EngineRow) -> Result<(), ArchiveError> {
    let query = "INSERT INTO engine (session, state, summary) SELECT id, ?2, ?3 FROM session WHERE id = ?1
                 ON CONFLICT (session) DO UPDATE SET state = excluded.state, summary = excluded.summary";
    connection.prepare_cached(query)?.execute(params![session, row.state, row.summary])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{archive, session};

    fn row(state: &str, summary: Option<&str>) -> EngineRow {
        EngineRow { state: state.into(), summary: summary.map(str::to_owned) }
    }

    #[test]
    fn figures_change_without_the_summary_and_go_with_the_session() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        assert_eq!(archive.reader().engine("s").unwrap(), None);
        archive.save_engine_state("s", "{}").unwrap();
        assert_eq!(archive.reader().engine("s").unwrap(), Some(row("{}", None)));
        archive.save_engine("s", &row("1", Some("body"))).unwrap();
        archive.save_engine_state("s", "2").unwrap();
        assert_eq!(archive.reader().engine("s").unwrap(), Some(row("2", Some("body"))));
        archive.remove_session("s").unwrap();
        archive.save_engine_state("s", "{}").unwrap();
        archive.save_engine("s", &row("{}", None)).unwrap();
        assert_eq!(archive.reader().engine("s").unwrap(), None);
    }

    #[test]
    fn what_is_done_together_is_done_whole_or_not_at_all() {
        let (_folder, archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let failed = archive.together(|archive| {
            archive.save_engine_state("s", "{}")?;
            Err(ArchiveError::NoSession { session: "s".into() })
        });
        assert!(failed.is_err());
        assert_eq!(archive.reader().engine("s").unwrap(), None);
        archive.together(|archive| archive.save_engine_state("s", "{}")).unwrap();
        assert!(archive.reader().engine("s").unwrap().is_some());
    }
}
