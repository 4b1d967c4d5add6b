//! Messages that are not in the index yet, as after a compression of a long list. A search reads their texts, so that
//! it need not wait for the index.
//!
//! First their bytes are scanned for the beginnings of the query's words, which is as fast as reading them. Only the
//! best are cut into words.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;
use memchr::memmem;
use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::Search;
use super::rank::{Candidate, DocumentId};
use crate::message::searched;
use crate::query::{Query, Word};
use crate::terms::{DocumentTerms, hash};
use crate::{ArchiveError, Reader, token};

/// Up to this many messages are indexed at once, because they are so few. A search then finds what later searches will
/// find.
const FEW: u64 = 100;

/// The maximum number of messages that a search reads. If there are more, they are indexed first.
const MOST: u64 = 8_000;

/// The maximum number of bytes of messages that a search reads.
const MOST_BYTES: u64 = 32 << 20;

/// The maximum number of matching messages that are ranked.
const CUT: usize = 150;

/// How many messages are cut into words to find that many.
const TRIED: usize = 600;

/// Occurrences above this number add nothing.
const ENOUGH: u32 = 10;

/// Chars at the end of a stem that may differ in a text.
const END: usize = 1;

/// Chars of the shortest word whose end is left out.
const SHORTENED: usize = 4;

/// The documents that were found outside of the index.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Documents that match some of the query.
    pub(super) found: Vec<PendingMatch>,
    /// The number of messages with each word of the query, by the index of the word.
    pub(super) words: HashMap<usize, usize>,
}

/// A message that is not in the index and matches some of the query.
#[derive(Debug)]
pub(super) struct PendingMatch {
    /// Its row.
    pub(super) id: i64,
    /// The key of its session.
    pub(super) session: i64,
    pub(super) candidate: Candidate,
}

/// A message, and how much of the query its bytes have.
struct Seen {
    id: i64,
    session: i64,
    has: Has,
}

/// The words of a query that a message has.
#[derive(Debug, Default, Clone, Copy)]
struct Has {
    /// A bit for each word.
    words: u64,
    /// How often they occur in total.
    count: u32,
}

impl Pending {
    /// Scans the messages that are not indexed and that pass the search's filters.
    pub(super) fn of(
        connection: &Connection,
        search: &Search<'_>,
        sessions: Option<&[String]>,
        query: &Query,
    ) -> Result<Self, ArchiveError> {
        let Some(patterns) = Patterns::of(query) else { return Ok(Self::default()) };
        if !search.kinds.messages || !can_be_read(query) {
            return Ok(Self::default());
        }
        let mut found = Self::default();
        let mut seen = look_through(connection, search, sessions, &patterns)?;
        seen.sort_by_key(|seen| Reverse((seen.has.words.count_ones(), seen.has.count.min(ENOUGH), seen.id)));
        for seen in seen.into_iter().take(TRIED) {
            let candidate = candidate(connection, seen.id)?;
            let has = |word: &Word| word.stems.iter().any(|stem| candidate.terms.count(hash(stem)) > 0.0);
            let words: Vec<usize> = (0..).zip(&query.words).filter(|(_, word)| has(word)).map(|(at, _)| at).collect();
            if words.is_empty() {
                continue;
            }
            words.into_iter().for_each(|word| *found.words.entry(word).or_default() += 1);
            found.found.push(PendingMatch { session: seen.session, id: seen.id, candidate });
            if found.found.len() == CUT {
                break;
            }
        }
        Ok(found)
    }
}

/// Returns a message, cut into words.
fn candidate(connection: &Connection, id: i64) -> Result<Candidate, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT body FROM message WHERE id = ?1")?;
    let tokens = query.query_row([id], |row| Ok(token::tokens(&searched(row.get_ref(0)?.as_str()?))))?;
    let terms = DocumentTerms::of(tokens.counting, tokens.marks);
    Ok(Candidate { id: DocumentId::Local(id), terms, first: 0.0, before: Vec::new(), after: Vec::new() })
}

/// Reads the messages that are not indexed, and counts the patterns in each.
fn look_through(
    connection: &Connection,
    search: &Search<'_>,
    sessions: Option<&[String]>,
    patterns: &Patterns,
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
           AND message.recalled = 0 AND message.role <> 'system'
           AND NOT EXISTS (SELECT 1 FROM original WHERE original.message = message.id){conditions}
         ORDER BY message.id DESC LIMIT {MOST}"
    );
    let sessions: Option<HashSet<&str>> = sessions.map(|sessions| sessions.iter().map(String::as_str).collect());
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query(values.as_slice())?;
    let (mut seen, mut bytes) = (Vec::new(), 0_u64);
    while bytes <= MOST_BYTES
        && let Some(row) = rows.next()?
    {
        let session = row.get_ref(2)?.as_str()?;
        if sessions.as_ref().is_some_and(|sessions| !sessions.contains(session)) {
            continue;
        }
        let body = row.get_ref(1)?.as_str()?;
        bytes = bytes.saturating_add(u64::try_from(body.len()).unwrap_or(u64::MAX));
        let has = patterns.in_body(body);
        if has.words > 0 {
            seen.push(Seen { id: row.get(0)?, session: row.get(3)?, has });
        }
    }
    Ok(seen)
}

/// Whether a query's words can be found without the index. Quoted parts and single chars can't.
fn can_be_read(query: &Query) -> bool {
    query.quoted.is_empty() && query.chars.is_empty()
}

impl Reader {
    /// Whether messages must be indexed before a search for this query, because the search does not read their texts.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn must_index(&self, query: &str) -> Result<bool, ArchiveError> {
        // SQLite knows the length of a table's own column without reading the text. For a view's column it reads the
        // text.
        let newer = format!(
            "SELECT count(*), coalesce(sum(bytes), 0) FROM (
                 SELECT octet_length(body) + coalesce(octet_length(text), 0) AS bytes
                 FROM message_row LEFT JOIN message_text ON message_text.id = message_row.id
                 WHERE message_row.id > (SELECT value FROM meta WHERE name = 'indexed')
                 LIMIT {MOST} + 1)"
        );
        let mut statement = self.connection.prepare_cached(&newer)?;
        let (count, bytes): (u64, u64) = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((1..=FEW).contains(&count)
            || count > MOST
            || bytes > MOST_BYTES
            || (count > 0 && !can_be_read(&Query::of(query))))
    }
}

/// The patterns to find in the bytes of a message.
struct Patterns {
    beginnings: AhoCorasick,
    /// The index of the word that each pattern belongs to.
    words: Vec<u32>,
}

impl Patterns {
    /// Returns the beginnings of the query's words and of their stems, so that other forms of the words match too.
    fn of(query: &Query) -> Option<Self> {
        let of_word = |(at, word): (u32, &Word)| -> Vec<(u32, String)> {
            let short = |form: &str| match (word.open, form.chars().count()) {
                (true, chars @ SHORTENED..) => form.chars().take(chars - END).collect(),
                _ => form.to_owned(),
            };
            word.forms().map(|form| (at, short(form))).collect()
        };
        let (words, beginnings): (Vec<u32>, Vec<String>) = (0..).zip(&query.words).flat_map(of_word).unzip();
        let beginnings = AhoCorasick::builder().ascii_case_insensitive(true).build(beginnings).ok()?;
        (!words.is_empty()).then_some(Self { beginnings, words })
    }

    /// Returns the matches in a body. A body with accents or escapes is normalised first.
    fn in_body(&self, body: &str) -> Has {
        if body.is_ascii() && memmem::find(body.as_bytes(), b"\\u").is_none() {
            self.in_text(body)
        } else {
            self.in_text(&token::lower(&token::normalise(&searched(body))))
        }
    }

    fn in_text(&self, text: &str) -> Has {
        let found = self.beginnings.find_overlapping_iter(text).filter(|found| begins_a_word(text, found.start()));
        found.fold(Has::default(), |has, found| {
            let word = self.words.get(found.pattern().as_usize()).map_or(0, |word| *word);
            Has { words: has.words | 1_u64.checked_shl(word).unwrap_or(0), count: has.count.saturating_add(1) }
        })
    }
}

/// Whether a word, or a part of one that is written likeThis, begins at a position of a text. The text may be JSON, in
/// which an escape ends with a letter.
fn begins_a_word(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = |count: usize| at.checked_sub(count).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let is_escape = before(2) == b'\\' && matches!(before(1), b'n' | b't' | b'r' | b'b' | b'f');
    let is_upper = bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    is_escape || is_upper || !before(1).is_ascii_alphanumeric()
}
