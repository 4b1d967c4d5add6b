//! Finding what was said.

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, params};

use crate::handle::Source;
use crate::index::{Kind, kind_token, session_token};
use crate::query::{self, Ends, Join};
pub use crate::query::{LONGEST_QUERY, MOST_WORDS};
use crate::transcript::find_session_key;
use crate::{ArchiveError, Reader, text_of};

/// Matches that are ranked: the newest ones. A word that half the archive has
/// would take seconds otherwise, and says nothing about the older half.
pub const CANDIDATES: usize = 2_000;

const OUTPUT: i64 = Kind::Output as i64;
const MEMORY: i64 = Kind::Memory as i64;

/// What to look for. The filters hold exactly: they are part of the search, not
/// applied to its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search<'a> {
    /// The words; parts in double quotes belong together. All must occur; when
    /// nothing has them all, what has any of them is found. Words of three chars
    /// and more also stand for longer ones, unless more than `limit` places have
    /// them as they are.
    pub query: &'a str,
    /// Only of this session and of those that it goes on for.
    pub session: Option<&'a str>,
    /// Only of this profile.
    pub profile: Option<&'a str>,
    /// Only these kinds.
    pub kinds: Kinds,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
    /// Hits at most.
    pub limit: usize,
}

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Messages, in a transcript or removed from one.
    pub messages: bool,
    /// Tool outputs.
    pub outputs: bool,
    /// Memory stores' history.
    pub memory: bool,
}

impl Kinds {
    /// Every kind.
    pub const ALL: Self = Self { messages: true, outputs: true, memory: true };
    /// Only messages.
    pub const MESSAGES: Self = Self { messages: true, outputs: false, memory: false };
    /// Only outputs.
    pub const OUTPUTS: Self = Self { messages: false, outputs: true, memory: false };
    /// Only memory.
    pub const MEMORY: Self = Self { messages: false, outputs: false, memory: true };
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The best first; of equal ones the newest first.
    pub hits: Vec<Hit>,
    /// There are more than these.
    pub more: bool,
}

/// A place where the words are.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where.
    pub source: Source,
    /// The session, if there is one.
    pub session: Option<String>,
    /// The profile.
    pub profile: String,
    /// A message's role.
    pub role: Option<String>,
    /// When, in Unix seconds.
    pub time: f64,
    /// Higher is better. Only to be compared within one search.
    pub score: f64,
    /// The text of a message or memory; none for an output, which is a file
    /// elsewhere.
    pub text: Option<String>,
}

impl Reader {
    /// Finds the best among the newest [`CANDIDATES`] matches. A query without any
    /// letter or digit finds nothing.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn search(&self, search: &Search<'_>) -> Result<Found, ArchiveError> {
        let phrases = query::phrases(search.query);
        if phrases.is_empty() || search.limit == 0 {
            return Ok(Found::default());
        }
        // One view of the file from the first statement to the last, whatever the
        // writer does meanwhile.
        let view = self.connection.unchecked_transaction()?;
        let sessions = search.session.map(|session| self.lineage(session)).transpose()?;
        let Some(filter) = Filter::of(&view, search, sessions.as_deref())? else {
            return Ok(Found::default());
        };
        let mut ranked = Vec::new();
        for join in [Join::All, Join::Any] {
            // Beginnings are dear, and add nothing when whole words fill the answer.
            ranked = filter.rank(&view, &query::expression(&phrases, join, Ends::Closed))?;
            if ranked.len() <= search.limit && phrases.iter().any(|phrase| phrase.open) {
                ranked = filter.rank(&view, &query::expression(&phrases, join, Ends::AsAsked))?;
            }
            if !ranked.is_empty() || phrases.len() == 1 {
                break;
            }
        }
        let more = ranked.len() > search.limit;
        ranked.sort_by(|(id, score), (other, higher)| higher.total_cmp(score).then(other.cmp(id)));
        ranked.truncate(search.limit);
        let hits = ranked.into_iter().map(|(id, score)| hit(&view, id, score)).collect::<Result<_, _>>()?;
        Ok(Found { hits, more })
    }
}

/// What a document must be, besides having the words.
struct Filter<'a> {
    /// In the words of FTS5, each to be combined by AND.
    scopes: Vec<String>,
    conditions: String,
    values: Vec<&'a dyn ToSql>,
}

impl<'a> Filter<'a> {
    /// None when nothing can pass.
    fn of(
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

    /// Few documents are no messages: a token finds those fast. Messages are told
    /// by their row.
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
        // The first parameters are the words and the number of candidates.
        let condition = format!(" AND {condition} ?{}", self.values.len() + 2);
        self.conditions.push_str(&condition);
    }

    /// Ids and scores of the newest matches.
    fn rank(&self, connection: &Connection, words: &str) -> Result<Vec<(i64, f64)>, ArchiveError> {
        let scopes: String = self.scopes.iter().map(|scope| format!(" AND {scope}")).collect();
        let words = format!("({words}){scopes}");
        let join = if self.conditions.is_empty() { "" } else { "CROSS JOIN document ON document.id = word.rowid" };
        let query = format!(
            "SELECT word.rowid, -bm25(word, 1.0, 0.5, 0.0) FROM word {join} WHERE word MATCH ?1{}
             ORDER BY word.rowid DESC LIMIT ?2",
            self.conditions
        );
        let candidates = i64::try_from(CANDIDATES).unwrap_or(i64::MAX);
        let mut values: Vec<&dyn ToSql> = vec![&words, &candidates];
        values.extend(&self.values);
        let mut query = connection.prepare_cached(&query)?;
        let rows = query.query_map(values.as_slice(), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn hit(connection: &Connection, id: i64, score: f64) -> Result<Hit, ArchiveError> {
    let found = match kind_of(connection, id)? {
        Some(OUTPUT) => output_hit(connection, id)?,
        Some(MEMORY) => memory_hit(connection, id)?,
        _ => message_hit(connection, id)?,
    };
    let missing =
        || ArchiveError::Damaged { words: format!("the text index has a document {id} that is nowhere else") };
    found.map(|hit| Hit { score, ..hit }).ok_or_else(missing)
}

fn kind_of(connection: &Connection, id: i64) -> Result<Option<i64>, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT kind FROM document WHERE id = ?1")?;
    Ok(query.query_row([id], |row| row.get(0)).optional()?)
}

fn message_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query = connection.prepare_cached(
        "SELECT message.id, session_key.id, document.profile, role, message.time, body
         FROM message JOIN session_key ON session_key.key = message.session
         JOIN document ON document.id = message.id WHERE message.id = ?1",
    )?;
    let hit = query.query_row(params![id], |row| {
        let role: String = row.get(3)?;
        Ok(Hit {
            source: Source::Message { id: row.get(0)? },
            session: row.get(1)?,
            profile: row.get(2)?,
            role: (!role.is_empty()).then_some(role),
            time: row.get(4)?,
            score: 0.0,
            text: Some(text_of(row.get_ref(5)?.as_str()?)),
        })
    });
    Ok(hit.optional()?)
}

fn output_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query = connection.prepare_cached(
        "SELECT handle, line, start, chars, session, output.profile, document.time
         FROM output_part JOIN output ON output.key = output_part.output
         JOIN document ON document.id = output_part.id WHERE output_part.id = ?1",
    )?;
    let hit = query.query_row([id], |row| {
        Ok(Hit {
            source: Source::Output { handle: row.get(0)?, line: row.get(1)?, start: row.get(2)?, chars: row.get(3)? },
            session: row.get(4)?,
            profile: row.get(5)?,
            role: None,
            time: row.get(6)?,
            score: 0.0,
            text: None,
        })
    });
    Ok(hit.optional()?)
}

fn memory_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT id, session, profile, time, text FROM memory_text WHERE id = ?1")?;
    let hit = query.query_row([id], |row| {
        Ok(Hit {
            source: Source::Memory { id: row.get(0)? },
            session: row.get(1)?,
            profile: row.get(2)?,
            role: None,
            time: row.get(3)?,
            score: 0.0,
            text: row.get(4)?,
        })
    });
    Ok(hit.optional()?)
}

#[cfg(test)]
mod tests;
