//! The rules of a session's user. A removed rule stays as a row, so that it is not extracted again from the message
//! that stated it.

use rusqlite::{Connection, params};

use crate::{Archive, ArchiveError, Reader, transcript};

/// A rule. The caller defines the words in `scope`, `source` and `state`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintRow {
    /// Its id in its session.
    pub id: String,
    /// The user's words.
    pub text: String,
    /// How long it holds.
    pub scope: String,
    /// Where it comes from.
    pub source: String,
    /// Since when, in Unix seconds.
    pub at: f64,
    /// Whether it is in force.
    pub state: String,
}

impl Reader {
    /// Returns all rules that a session ever had, oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn constraints(&self, session: &str) -> Result<Vec<ConstraintRow>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT id, text, scope, source, at, state FROM user_rule WHERE session = ?1 ORDER BY at, id",
        )?;
        let rows = query.query_map([session], |row| {
            Ok(ConstraintRow {
                id: row.get(0)?,
                text: row.get(1)?,
                scope: row.get(2)?,
                source: row.get(3)?,
                at: row.get(4)?,
                state: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Saves a new or changed rule.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn save_constraint(&self, session: &str, row: &ConstraintRow) -> Result<(), ArchiveError> {
        transcript::generation_of(self.connection(), session)?;
        save(self.connection(), session, std::slice::from_ref(row))
    }
}

pub(crate) fn save(connection: &Connection, session: &str, rows: &[ConstraintRow]) -> Result<(), ArchiveError> {
    let mut query = connection.prepare_cached(
        "INSERT INTO user_rule (session, id, text, scope, source, at, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (session, id) DO UPDATE SET text = excluded.text, scope = excluded.scope,
         source = excluded.source, at = excluded.at, state = excluded.state",
    )?;
    for row in rows {
        query.execute(params![session, row.id, row.text, row.scope, row.source, row.at, row.state])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{archive, session};

    fn rule(id: &str, at: f64, state: &str) -> ConstraintRow {
        let [scope, source] = ["standing", "explicit"].map(str::to_owned);
        ConstraintRow { id: id.into(), text: "never push".into(), scope, source, at, state: state.into() }
    }

    #[test]
    fn rules_are_kept_in_order_and_change_in_place_and_go_with_the_session() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        archive.create_session(&session("other")).unwrap();
        for row in [rule("b", 2.0, "active"), rule("a", 3.0, "active"), rule("c", 1.0, "active")] {
            archive.save_constraint("s", &row).unwrap();
        }
        archive.save_constraint("other", &rule("b", 9.0, "active")).unwrap();
        archive.save_constraint("s", &rule("a", 3.0, "removed")).unwrap();
        let there = archive.reader().constraints("s").unwrap();
        assert_eq!(there, [rule("c", 1.0, "active"), rule("b", 2.0, "active"), rule("a", 3.0, "removed")]);
        archive.remove_session("s").unwrap();
        assert_eq!(archive.reader().constraints("s").unwrap(), []);
        assert_eq!(archive.reader().constraints("other").unwrap().len(), 1);
    }
}
