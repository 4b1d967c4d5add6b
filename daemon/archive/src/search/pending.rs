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
use crate::query::{Query, Word};
use crate::terms::{DocumentTerms, hash};
use crate::{ArchiveError, Reader, token};

/// Messages that are put into the index at once because they are so few: a search then finds what it
/// will find later.
const FEW: u64 = 100;

/// Messages that are read as they are at most; more are put into the index first.
const MOST: u64 = 8_000;

/// Bytes of the messages that are read at most.
const MOST_BYTES: u64 = 32 << 20;

/// Messages that have some of the query and are ranked.
const CUT: usize = 150;

/// How many are cut into words to find so many.
const TRIED: usize = 600;

/// Occurrences of which more say no more.
const ENOUGH: u32 = 10;

/// Chars of a stem's end that a text may have otherwise.
const END: usize = 1;

/// Chars of the shortest word whose end is left out.
const SHORTENED: usize = 4;

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
            found.found.push((seen.session, candidate));
            if found.found.len() == CUT {
                break;
            }
        }
        Ok(found)
    }
}

/// A message, cut into words.
fn candidate(connection: &Connection, id: i64) -> Result<Candidate, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT body FROM message WHERE id = ?1")?;
    let tokens = query.query_row([id], |row| Ok(token::tokens(&searched(row.get_ref(0)?.as_str()?))))?;
    let terms = DocumentTerms::of(tokens.counting, tokens.marks);
    Ok(Candidate { id, terms, first: 0.0, before: Vec::new(), after: Vec::new() })
}

/// Reads the messages that the index has not, and counts in each what stands there of the patterns.
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
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query(values.as_slice())?;
    let (mut seen, mut bytes) = (Vec::new(), 0_u64);
    while bytes <= MOST_BYTES
        && let Some(row) = rows.next()?
    {
        let session = row.get_ref(2)?.as_str()?;
        if sessions.is_some_and(|sessions| !sessions.iter().any(|one| one == session)) {
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

/// What is looked for in the bytes of a message.
struct Patterns {
    beginnings: AhoCorasick,
    /// The word that each of them is the beginning of.
    words: Vec<u32>,
}

impl Patterns {
    /// The beginnings of the words that a query looks for, and of their stems, so that other forms of them
    /// begin so too.
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

    /// What stands in a body. What is written with accents or as escapes is made plain first.
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

/// Whether a word, or a part of one that is written likeThis, begins at a place of a text, which may be
/// JSON: there an escape ends with a letter.
fn begins_a_word(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = |count: usize| at.checked_sub(count).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let is_escape = before(2) == b'\\' && matches!(before(1), b'n' | b't' | b'r' | b'b' | b'f');
    let is_upper = bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    is_escape || is_upper || !before(1).is_ascii_alphanumeric()
}
