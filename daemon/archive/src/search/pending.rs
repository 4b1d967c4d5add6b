//! Messages that are not in the index yet, as after a compression of a long list: a search reads them
//! as they are, so that it need not wait until they are.
//!
//! First their bytes are looked through for the beginnings of the query's words, which is as fast as
//! they are read; only the best are cut into words.

use std::cmp::Reverse;
use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use memchr::memmem;
use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::Search;
use super::rank::Candidate;
use crate::message::searched;
use crate::query::{MOST_PAIRS, Query, Word};
use crate::terms::DocumentTerms;
use crate::{ArchiveError, Reader, token};

/// Messages that are read at most; more are put into the index first.
const MOST: u64 = 8_000;

/// Bytes of them at most.
const MOST_BYTES: u64 = 32 << 20;

/// Of these, how many are cut into words.
const CUT: usize = 150;

/// Occurrences of which more say no more.
const ENOUGH: u32 = 10;

/// Chars of a stem's end that a text may have otherwise.
const END: usize = 1;

/// Chars of the shortest beginning that is looked for.
const SHORTEST: usize = 2;

/// What was found outside of the index.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Documents that have some of the query, each with its session.
    pub(super) found: Vec<(i64, Candidate)>,
    /// Places of the query's words, and in how many messages they stand.
    pub(super) words: HashMap<usize, usize>,
}

/// A message with how much of the query its bytes have.
struct Seen {
    id: i64,
    session: i64,
    has: Has,
}

/// What of a query stands in a message.
#[derive(Debug, Default, Clone, Copy)]
struct Has {
    /// A bit for each word.
    words: u64,
    /// Occurrences of them.
    count: u32,
}

impl Pending {
    /// Looks through the messages behind the index that the search is for.
    pub(super) fn of(
        connection: &Connection,
        search: &Search<'_>,
        sessions: Option<&[String]>,
        query: &Query,
    ) -> Result<Self, ArchiveError> {
        let Some(patterns) = patterns(query) else { return Ok(Self::default()) };
        if !search.kinds.messages || !can_be_read(query) {
            return Ok(Self::default());
        }
        let mut found = Self::default();
        let mut seen = look_through(connection, search, sessions, &patterns, &mut found.words)?;
        seen.sort_by_key(|seen| Reverse((seen.has.words.count_ones(), seen.has.count.min(ENOUGH), seen.id)));
        seen.truncate(CUT);
        for seen in seen {
            found.found.push((seen.session, candidate(connection, seen.id)?));
        }
        Ok(found)
    }
}

/// A message, cut into words.
fn candidate(connection: &Connection, id: i64) -> Result<Candidate, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT body FROM message WHERE id = ?1")?;
    let tokens = query.query_row([id], |row| Ok(token::tokens(&searched(row.get_ref(0)?.as_str()?))))?;
    let terms =
        DocumentTerms { words: tokens.counting.words(), marks: tokens.marks, encoded: tokens.counting.encode() };
    Ok(Candidate { id, terms, first: 0.0, before: Vec::new(), after: Vec::new() })
}

/// Reads the messages that the index has not, and counts in each what stands there of the patterns.
fn look_through(
    connection: &Connection,
    search: &Search<'_>,
    sessions: Option<&[String]>,
    patterns: &AhoCorasick,
    words: &mut HashMap<usize, usize>,
) -> Result<Vec<Seen>, ArchiveError> {
    let mut conditions = String::new();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let filters: [(&str, Option<&dyn ToSql>); 3] = [
        ("session.profile =", search.profile.as_ref().map(|profile| profile as &dyn ToSql)),
        ("message.time >=", search.since.as_ref().map(|since| since as &dyn ToSql)),
        ("message.time <", search.until.as_ref().map(|until| until as &dyn ToSql)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            values.push(value);
            conditions.push_str(&format!(" AND {condition} ?{}", values.len()));
        }
    }
    let query = format!(
        "SELECT message.id, message.body, session.id, session_key.key
         FROM message JOIN session_key ON session_key.key = message.session JOIN session ON session.id = session_key.id
         WHERE message.id > (SELECT value FROM meta WHERE name = 'indexed')
           AND message.recalled = 0 AND message.role <> 'system'{conditions}
         ORDER BY message.id DESC LIMIT {MOST}"
    );
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query(values.as_slice())?;
    let mut seen = Vec::new();
    while let Some(row) = rows.next()? {
        let session = row.get_ref(2)?.as_str()?;
        if sessions.is_some_and(|sessions| !sessions.iter().any(|one| one == session)) {
            continue;
        }
        let has = Has::of(patterns, row.get_ref(1)?.as_str()?);
        if has.words > 0 {
            seen.push(Seen { id: row.get(0)?, session: row.get(3)?, has });
            (0..MOST_PAIRS)
                .filter(|word| has.words >> word & 1 > 0)
                .for_each(|word| *words.entry(word).or_default() += 1);
        }
    }
    Ok(seen)
}

/// Whether a query's words can be found without the index: what is quoted, and what one char begins,
/// can't.
fn can_be_read(query: &Query) -> bool {
    query.quoted.is_empty() && query.chars.is_empty()
}

impl Reader {
    /// Whether messages are to be put into the index before a search for this query: those that a
    /// search does not read as they are.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn must_index(&self, query: &str) -> Result<bool, ArchiveError> {
        // Of a column itself, and not of a view's, the length is known without the text.
        let newer = "SELECT count(*), coalesce(sum(octet_length(body)), 0) + coalesce(sum(octet_length(text)), 0)
             FROM message_row LEFT JOIN message_text ON message_text.id = message_row.id
             WHERE message_row.id > (SELECT value FROM meta WHERE name = 'indexed')";
        let mut statement = self.connection.prepare_cached(newer)?;
        let (count, bytes): (u64, u64) = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(count > MOST || bytes > MOST_BYTES || (count > 0 && !can_be_read(&Query::of(query))))
    }
}

impl Has {
    /// What stands in a body. What is written with accents or as escapes is made plain first.
    fn of(patterns: &AhoCorasick, body: &str) -> Self {
        match body.is_ascii() && memmem::find(body.as_bytes(), b"\\u").is_none() {
            true => Self::in_text(patterns, body),
            false => Self::in_text(patterns, &token::lower(&token::normalise(&searched(body)))),
        }
    }

    fn in_text(patterns: &AhoCorasick, text: &str) -> Self {
        patterns.find_iter(text).fold(Self::default(), |has, found| Self {
            words: has.words | 1 << found.pattern().as_u32().min(u64::BITS - 1),
            count: has.count.saturating_add(1),
        })
    }
}

/// The beginnings of the words that a query looks for, in their order.
fn patterns(query: &Query) -> Option<AhoCorasick> {
    let beginnings: Vec<String> = query.words.iter().map(beginning).collect();
    if beginnings.is_empty() {
        return None;
    }
    AhoCorasick::builder().ascii_case_insensitive(true).build(beginnings).ok()
}

/// What a word and its stems begin with, so that other forms of it begin so too.
fn beginning(word: &Word) -> String {
    let common = |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let chars = word.stems.iter().map(|stem| common(stem, &word.token)).min().unwrap_or(0);
    let chars = if word.open { chars.saturating_sub(END) } else { chars };
    match chars {
        ..SHORTEST => word.token.clone(),
        _ => word.token.chars().take(chars).collect(),
    }
}
