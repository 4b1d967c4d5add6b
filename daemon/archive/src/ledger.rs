//! The ledger: changes of the windows of sessions, and the model calls around them.

use std::collections::HashMap;

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::usage::{Buckets, UsageRow};
use crate::{Archive, ArchiveError, Reader};

/// The seconds of a quarter of an hour.
const QUARTER: u32 = 900;

/// A model call with an id of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The call's id in its session.
    pub id: String,
    /// When, in Unix seconds.
    pub time: f64,
    /// The model.
    pub model: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The tokens.
    pub buckets: Buckets,
}

/// A change of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When, in Unix seconds.
    pub time: f64,
    /// The kind of change; the archive only stores the word.
    pub kind: String,
    /// Tokens with herma.
    pub added: u64,
    /// Tokens without herma.
    pub removed: u64,
}

/// A recorded call, with or without an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    /// When, in Unix seconds.
    pub time: f64,
    /// The model.
    pub model: Option<String>,
    /// The tokens.
    pub buckets: Buckets,
}

/// The whole ledger of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLedger {
    /// The session.
    pub session: String,
    /// Its agent.
    pub agent: Option<String>,
    /// Its calls, the oldest first.
    pub calls: Vec<Used>,
    /// Its changes, the oldest first.
    pub changes: Vec<Change>,
}

/// What was kept of a session in a quarter of an hour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The session.
    pub session: String,
    /// Its agent.
    pub agent: Option<String>,
    /// The beginning of the quarter, in Unix seconds. A day of any time zone has whole ones.
    pub time: f64,
    /// The number of messages.
    pub messages: u64,
    /// The number of those that are the result of a search.
    pub found: u64,
    /// The number of compressions that were not undone.
    pub compressions: u64,
}

/// Selects sessions of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LedgerQuery<'a> {
    /// Only this one.
    pub session: Option<&'a str>,
    /// Only this profile's.
    pub profile: Option<&'a str>,
    /// Only those with a call or a change from this time on, in Unix seconds.
    pub since: Option<f64>,
}

impl Archive {
    /// Records a call of a session, as [`Archive::record_usage`] does.
    ///
    /// # Errors
    /// A number of 2^63 and more, or a failure of the database.
    pub fn record_call(&self, session: &str, call: &Call) -> Result<bool, ArchiveError> {
        self.record_usage(&UsageRow {
            session: Some(session),
            call: Some(&call.id),
            time: call.time,
            model: call.model.as_deref(),
            agent: None,
            provider: call.provider.as_deref(),
            buckets: call.buckets,
        })
    }

    /// Stores a change. Returns false, and stores nothing, if the session was removed.
    ///
    /// # Errors
    /// A number of 2^63 and more, or a failure of the database.
    pub fn record_change(&self, session: &str, change: &Change) -> Result<bool, ArchiveError> {
        let Change { time, kind, added, removed } = change;
        let kept = self
            .connection()
            .prepare_cached(
                "INSERT INTO window_change (session, time, kind, added, removed)
                 SELECT ?1,?2,?3,?4,?5 WHERE EXISTS (SELECT 1 FROM session WHERE id = ?1)",
            )?
            .execute(params![session, time, kind, added, removed])?;
        Ok(kept > 0)
    }
}

impl Reader {
    /// Returns the ledgers of sessions with at least one change, in the order of their ids.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn ledgers(&self, query: &LedgerQuery<'_>) -> Result<Vec<SessionLedger>, ArchiveError> {
        let mut values: Vec<&dyn ToSql> = Vec::new();
        let mut conditions = String::new();
        if let Some(session) = &query.session {
            values.push(session);
            conditions.push_str(&format!(" AND session.id = ?{}", values.len()));
        }
        if let Some(profile) = &query.profile {
            values.push(profile);
            conditions.push_str(&format!(" AND session.profile = ?{}", values.len()));
        }
        if let Some(since) = &query.since {
            values.push(since);
            let at = values.len();
            let newer =
                |table| format!("EXISTS (SELECT 1 FROM {table} AS it WHERE it.session = id AND it.time >= ?{at})");
            conditions.push_str(&format!(" AND ({} OR {})", newer("usage"), newer("window_change")));
        }
        let sql = format!(
            "SELECT id, agent FROM session
             WHERE EXISTS (SELECT 1 FROM window_change WHERE window_change.session = id){conditions} ORDER BY id"
        );
        let sessions: Vec<(String, Option<String>)> =
            self.rows(&sql, values.as_slice(), |row| Ok((row.get(0)?, row.get(1)?)))?;
        sessions.into_iter().map(|(session, agent)| self.ledger(session, agent)).collect()
    }

    /// Returns how many messages are kept of every session, and how many compressions there were.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn kept(&self, query: &LedgerQuery<'_>) -> Result<Vec<Kept>, ArchiveError> {
        let LedgerQuery { session, profile, since } = query;
        let quarters = |counts: &str, table: &str| {
            format!(
                "SELECT session, CAST(time / {QUARTER} AS INTEGER) AS quarter, {counts}
                 FROM {table} AND (?3 IS NULL OR time >= ?3) GROUP BY 1, 2"
            )
        };
        let of = "(?1 IS NULL OR session.id = ?1) AND (?2 IS NULL OR session.profile = ?2)";
        let messages = quarters("count(*) AS messages, sum(recalled != 0) AS found", "message_row WHERE TRUE");
        let compressions = quarters("count(*) AS compressions", "compression WHERE back_to IS NULL AND undone IS NULL");
        let sql = format!(
            "SELECT session.id, session.agent, row.quarter * {QUARTER}, row.messages, row.found, 0
             FROM ({messages}) AS row JOIN session_key ON session_key.key = row.session
             JOIN session ON session.id = session_key.id WHERE {of}
             UNION ALL
             SELECT session.id, session.agent, row.quarter * {QUARTER}, 0, 0, row.compressions
             FROM ({compressions}) AS row JOIN session ON session.id = row.session WHERE {of}"
        );
        self.rows(&sql, &[session, profile, since], |row| {
            Ok(Kept {
                session: row.get(0)?,
                agent: row.get(1)?,
                time: row.get(2)?,
                messages: row.get(3)?,
                found: row.get(4)?,
                compressions: row.get(5)?,
            })
        })
    }

    /// Returns the agent of every session that has one.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn agents(&self) -> Result<HashMap<String, String>, ArchiveError> {
        let rows = self
            .rows("SELECT id, agent FROM session WHERE agent IS NOT NULL", &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    fn ledger(&self, session: String, agent: Option<String>) -> Result<SessionLedger, ArchiveError> {
        let of: &[&dyn ToSql] = &[&session];
        let calls = self.rows(
            "SELECT time, model, input, output, cache_read, cache_write, reasoning FROM usage
             WHERE session = ?1 ORDER BY time, rowid",
            of,
            |row| {
                let buckets = Buckets {
                    input: row.get(2)?,
                    output: row.get(3)?,
                    cache_read: row.get(4)?,
                    cache_write: row.get(5)?,
                    reasoning: row.get(6)?,
                };
                Ok(Used { time: row.get(0)?, model: row.get(1)?, buckets })
            },
        )?;
        let changes = self.rows(
            "SELECT time, kind, added, removed FROM window_change WHERE session = ?1 ORDER BY time, rowid",
            of,
            |row| Ok(Change { time: row.get(0)?, kind: row.get(1)?, added: row.get(2)?, removed: row.get(3)? }),
        )?;
        Ok(SessionLedger { session, agent, calls, changes })
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ArchiveError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, |row| read(row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionRow;
    use crate::testing::{archive, session};

    fn call(id: &str, time: f64, output: u64) -> Call {
        let buckets = Buckets { input: 5, output, cache_read: 3, cache_write: 2, reasoning: 1 };
        Call { id: id.into(), time, model: Some("m".into()), provider: None, buckets }
    }

    fn change(time: f64, added: u64) -> Change {
        Change { time, kind: "context".into(), added, removed: 7 }
    }

    #[test]
    fn a_call_that_comes_twice_is_one_with_its_first_time_and_its_largest_counts() {
        let (_folder, archive) = archive();
        archive.create_session(&session("s")).unwrap();
        archive.record_change("s", &change(1.0, 10)).unwrap();
        for (call, is_new) in [(call("b", 3.0, 1), true), (call("a", 2.0, 9), true), (call("b", 4.0, 8), false)] {
            assert_eq!(archive.record_call("s", &call).unwrap(), is_new, "{call:?}");
        }
        let ledgers = archive.reader().ledgers(&LedgerQuery::default()).unwrap();
        let [ledger] = ledgers.as_slice() else { panic!("{ledgers:?}") };
        assert_eq!((ledger.session.as_str(), ledger.agent.as_deref()), ("s", Some("a")));
        let calls: Vec<_> = ledger.calls.iter().map(|call| (call.time, call.buckets.output)).collect();
        assert_eq!(calls, [(2.0, 9), (3.0, 8)]);
        assert_eq!(ledger.changes, [change(1.0, 10)]);
        assert!(archive.record_call("s", &call("c", 1.0, u64::MAX)).is_err());
    }

    #[test]
    fn messages_are_counted_by_session_and_quarter() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("a")).unwrap();
        archive.create_session(&SessionRow { profile: "work".into(), agent: None, ..session("b") }).unwrap();
        let said = |words: &str| format!(r#"{{"role":"user","content":"{words}"}}"#);
        archive.append("a", 0, 0, &[&said("one"), &said("two")], 1_000.0).unwrap();
        archive.append("a", 0, 2, &[&said("three")], 2_000.0).unwrap();
        archive.append("b", 0, 0, &[&said("four")], 2_000.0).unwrap();
        let found = |query: LedgerQuery<'_>| {
            let mut kept = archive.reader().kept(&query).unwrap();
            kept.sort_by(|one, other| one.session.cmp(&other.session).then(one.time.total_cmp(&other.time)));
            kept.into_iter().map(|kept| (kept.session, kept.time, kept.messages, kept.found)).collect::<Vec<_>>()
        };
        let row = |session: &str, time: f64, messages: u64| (session.to_owned(), time, messages, 0);
        let all = [row("a", 900.0, 2), row("a", 1_800.0, 1), row("b", 1_800.0, 1)];
        assert_eq!(found(LedgerQuery::default()), all);
        assert_eq!(found(LedgerQuery { session: Some("a"), ..LedgerQuery::default() }), all[..2]);
        assert_eq!(found(LedgerQuery { profile: Some("work"), ..LedgerQuery::default() }), all[2..]);
        assert_eq!(found(LedgerQuery { since: Some(1_500.0), ..LedgerQuery::default() }), all[1..]);
    }

    #[test]
    fn sessions_are_chosen_and_none_of_an_unknown_one_is_kept() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("old")).unwrap();
        archive.create_session(&SessionRow { profile: "work".into(), ..session("new") }).unwrap();
        archive.create_session(&session("unchanged")).unwrap();
        assert!(!archive.record_call("gone", &call("a", 1.0, 1)).unwrap());
        assert!(!archive.record_change("gone", &change(1.0, 1)).unwrap());
        archive.record_call("unchanged", &call("a", 50.0, 1)).unwrap();
        archive.record_change("old", &change(10.0, 1)).unwrap();
        archive.record_change("new", &change(10.0, 1)).unwrap();
        archive.record_call("new", &call("a", 50.0, 1)).unwrap();
        let found = |archive: &Archive, query: LedgerQuery<'_>| -> Vec<String> {
            archive.reader().ledgers(&query).unwrap().into_iter().map(|ledger| ledger.session).collect()
        };
        assert_eq!(found(&archive, LedgerQuery::default()), ["new", "old"]);
        assert_eq!(found(&archive, LedgerQuery { since: Some(20.0), ..LedgerQuery::default() }), ["new"]);
        assert_eq!(found(&archive, LedgerQuery { profile: Some("work"), ..LedgerQuery::default() }), ["new"]);
        assert_eq!(found(&archive, LedgerQuery { session: Some("old"), ..LedgerQuery::default() }), ["old"]);
        archive.remove_session("old").unwrap();
        archive.create_session(&session("old")).unwrap();
        assert_eq!(found(&archive, LedgerQuery::default()), ["new"]);
    }
}
