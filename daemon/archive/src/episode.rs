//! Sub-tasks of a session that its agent opened and closed.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{Archive, ArchiveError, Reader, transcript};

/// The maximum number of remembered episodes of one session. Above it, the oldest are forgotten.
const MOST: u64 = 200;

const COLUMNS: &str = "number, title, outcome, after, last, at";

/// An episode. The caller defines the format of `after` and `last`.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRow {
    /// Its number in its session. Ignored when an episode is opened.
    pub number: u64,
    /// What it is about.
    pub title: String,
    /// Its outcome, in the agent's words.
    pub outcome: Option<String>,
    /// Identifies the message after which it begins; `None` if there was none.
    pub after: Option<String>,
    /// Identifies its last message; `None` while it is open.
    pub last: Option<String>,
    /// Since when, in Unix seconds.
    pub at: f64,
}

impl EpisodeRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get("number")?,
            title: row.get("title")?,
            outcome: row.get("outcome")?,
            after: row.get("after")?,
            last: row.get("last")?,
            at: row.get("at")?,
        })
    }
}

impl Reader {
    /// Returns the episodes of a session, in the order in which they were opened.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn episodes(&self, session: &str) -> Result<Vec<EpisodeRow>, ArchiveError> {
        let text = format!("SELECT {COLUMNS} FROM episode WHERE session = ?1 ORDER BY number");
        let mut query = self.connection.prepare_cached(&text)?;
        let rows = query.query_map([session], EpisodeRow::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Opens an episode. Returns false if an episode of that title is open.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn open_episode(&mut self, session: &str, row: &EpisodeRow) -> Result<bool, ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        transcript::generation_of(&transaction, session)?;
        if open(&transaction, session, &row.title)?.is_some() {
            return Ok(false);
        }
        transaction
            .prepare_cached(
                "INSERT INTO episode (session, number, title, outcome, after, last, at)
                 SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM episode WHERE session = ?1",
            )?
            .execute(params![session, row.title, row.outcome, row.after, row.last, row.at])?;
        transaction
            .prepare_cached(
                "DELETE FROM episode WHERE session = ?1 AND number <=
                 (SELECT max(number) - ?2 FROM episode WHERE session = ?1)",
            )?
            .execute(params![session, MOST])?;
        transaction.commit()?;
        Ok(true)
    }

    /// Closes the open episode of a title. Returns `None` if none is open.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn close_episode(
        &mut self,
        session: &str,
        title: &str,
        outcome: Option<&str>,
        last: &str,
    ) -> Result<Option<EpisodeRow>, ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        let Some(number) = open(&transaction, session, title)? else { return Ok(None) };
        let text = format!(
            "UPDATE episode SET outcome = ?3, last = ?4 WHERE session = ?1 AND number = ?2 RETURNING {COLUMNS}"
        );
        let row =
            transaction.prepare_cached(&text)?.query_row(params![session, number, outcome, last], EpisodeRow::read)?;
        transaction.commit()?;
        Ok(Some(row))
    }
}

/// Returns the number of the open episode of a title.
fn open(connection: &Connection, session: &str, title: &str) -> Result<Option<i64>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT number FROM episode WHERE session = ?1 AND title = ?2 AND last IS NULL")?;
    Ok(query.query_row([session, title], |row| row.get(0)).optional()?)
}

/// Changes the messages after which episodes of a session begin, by episode number.
pub(crate) fn save_anchors(
    connection: &Connection,
    session: &str,
    anchors: &[(u64, String)],
) -> Result<(), ArchiveError> {
    let mut query = connection.prepare_cached("UPDATE episode SET after = ?3 WHERE session = ?1 AND number = ?2")?;
    for (number, after) in anchors {
        query.execute(params![session, number, after])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{archive, session};

    fn row(title: &str) -> EpisodeRow {
        EpisodeRow { number: 0, title: title.into(), outcome: None, after: Some("a".into()), last: None, at: 1.0 }
    }

    fn numbered(number: u64, title: &str) -> EpisodeRow {
        EpisodeRow { number, ..row(title) }
    }

    #[test]
    fn an_episode_is_open_until_it_is_closed_and_goes_with_its_session() {
        let (_folder, mut archive) = archive();
        assert!(matches!(archive.open_episode("s", &row("x")), Err(ArchiveError::NoSession { .. })));
        archive.create_session(&session("s")).unwrap();
        archive.create_session(&session("t")).unwrap();
        assert!(archive.open_episode("s", &row("x")).unwrap());
        assert!(archive.open_episode("s", &row("y")).unwrap());
        assert!(!archive.open_episode("s", &row("x")).unwrap(), "it is open");
        let closed = EpisodeRow { outcome: Some("done".into()), last: Some("b".into()), ..numbered(1, "x") };
        assert_eq!(archive.close_episode("s", "x", Some("done"), "b").unwrap(), Some(closed.clone()));
        assert_eq!(archive.close_episode("s", "x", None, "c").unwrap(), None, "it is closed");
        assert!(archive.open_episode("s", &row("x")).unwrap());
        assert_eq!(archive.reader().episodes("s").unwrap(), [closed.clone(), numbered(2, "y"), numbered(3, "x")]);
        save_anchors(archive.connection(), "s", &[(2, "a b".into()), (7, "c".into())]).unwrap();
        let anew = EpisodeRow { after: Some("a b".into()), ..numbered(2, "y") };
        assert_eq!(archive.reader().episodes("s").unwrap(), [closed, anew, numbered(3, "x")]);
        crate::copy::copy(archive.connection(), "episode", "session", ("s", "t")).unwrap();
        archive.remove_session("s").unwrap();
        assert!(archive.reader().episodes("s").unwrap().is_empty());
        assert_eq!(archive.reader().episodes("t").unwrap().len(), 3);
    }

    #[test]
    fn the_oldest_are_forgotten_where_there_are_too_many() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let titles: Vec<String> = (0..MOST + 5).map(|at| at.to_string()).collect();
        for title in &titles {
            assert!(archive.open_episode("s", &row(title)).unwrap());
        }
        let there: Vec<String> = archive.reader().episodes("s").unwrap().into_iter().map(|row| row.title).collect();
        assert_eq!(there, titles[5..]);
    }
}
