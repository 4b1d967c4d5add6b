//! The conditions for a document besides having the words. They are exact: part of the search, not applied to its
//! result.

use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::{Kinds, Search};
use crate::ArchiveError;
use crate::browse::narrow;
use crate::index::{Kind, kind_token, session_token};
use crate::transcript::find_session_key;

const OUTPUT: i64 = Kind::Output as i64;
const MEMORY: i64 = Kind::Memory as i64;

/// The conditions for a document besides having the words.
pub(super) struct Filter<'a> {
    /// FTS5 expressions, to be combined with AND.
    scopes: Vec<String>,
    conditions: String,
    values: Vec<&'a dyn ToSql>,
}

impl<'a> Filter<'a> {
    /// Returns the filter of a search; `None` if no document can pass it.
    pub(super) fn of(
        connection: &Connection,
        search: &'a Search<'a>,
        sessions: Option<&[String]>,
    ) -> Result<Option<Self>, ArchiveError> {
        let mut filter = Self { scopes: Vec::new(), conditions: String::new(), values: Vec::new() };
        if let Some(sessions) = sessions {
            let mut tokens = Vec::new();
            for session in sessions {
                tokens.extend(find_session_key(connection, session)?.map(|key| format!("\"{}\"", session_token(key))));
            }
            if tokens.is_empty() {
                return Ok(None);
            }
            filter.scopes.push(format!("({})", tokens.join(" OR ")));
        }
        if !filter.kinds(search.kinds) {
            return Ok(None);
        }
        if let Some(profile) = &search.profile {
            filter.and("document.profile =", profile);
        }
        if let Some(since) = &search.since {
            filter.and("document.time >=", since);
        }
        if let Some(until) = &search.until {
            filter.and("document.time <", until);
        }
        Ok(Some(filter))
    }

    /// Adds the conditions for the kinds. Returns false if no kind is wanted. Few documents are not messages, so their
    /// token finds them fast. Messages are selected with their row.
    fn kinds(&mut self, kinds: Kinds) -> bool {
        let Kinds { messages, outputs, memory } = kinds;
        if messages {
            for (is_wanted, kind) in [(outputs, OUTPUT), (memory, MEMORY)] {
                if !is_wanted {
                    self.conditions.push_str(&format!(" AND document.kind <> {kind}"));
                }
            }
            return true;
        }
        let wanted = [(outputs, Kind::Output), (memory, Kind::Memory)];
        let tokens: Vec<String> = wanted
            .into_iter()
            .filter(|(is_wanted, _)| *is_wanted)
            .map(|(_, kind)| format!("\"{}\"", kind_token(kind)))
            .collect();
        self.scopes.push(format!("({})", tokens.join(" OR ")));
        !tokens.is_empty()
    }

    fn and(&mut self, condition: &str, value: &'a dyn ToSql) {
        self.values.push(value);
        // The first two parameters are the expression and the limit.
        let condition = format!(" AND {condition} ?{}", self.values.len() + 2);
        self.conditions.push_str(&condition);
    }

    /// Whether any document matches an expression.
    pub(super) fn has_any(&self, connection: &Connection, expression: &str) -> Result<bool, ArchiveError> {
        let (expression, from) = self.matching(expression);
        // This query does not need the second parameter, but the numbers of the later ones do.
        let query = format!("SELECT 1 FROM {from} AND ?2 IS NOT NULL LIMIT 1");
        let mut values: Vec<&dyn ToSql> = vec![&expression, &0];
        values.extend(&self.values);
        Ok(connection.prepare_cached(&query)?.exists(values.as_slice())?)
    }

    /// Returns the best of the newest `among` documents for an expression, with their score by FTS5's `bm25`; higher is
    /// better.
    pub(super) fn best(
        &self,
        connection: &Connection,
        expression: &str,
        (limit, among): (usize, usize),
    ) -> Result<Vec<(i64, f64)>, ArchiveError> {
        let (expression, from) = self.matching(expression);
        // `bm25` costs most, so it is computed only for so many documents.
        let query = format!(
            "SELECT id, score FROM (SELECT word.rowid AS id, -bm25(word, 1.0, 1.0, 0.5, 0.0) AS score FROM {from}
             ORDER BY word.rowid DESC LIMIT {among}) ORDER BY score DESC, id DESC LIMIT ?2"
        );
        let limit = narrow(limit);
        let mut values: Vec<&dyn ToSql> = vec![&expression, &limit];
        values.extend(&self.values);
        let mut query = connection.prepare_cached(&query)?;
        let rows = query.query_map(values.as_slice(), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the whole expression for FTS5, and the part of a query that uses it as first parameter.
    fn matching(&self, expression: &str) -> (String, String) {
        let scopes: String = self.scopes.iter().map(|scope| format!(" AND {scope}")).collect();
        let join = if self.conditions.is_empty() { "" } else { " CROSS JOIN document ON document.id = word.rowid" };
        (format!("({expression}){scopes}"), format!("word{join} WHERE word MATCH ?1{}", self.conditions))
    }
}
