//! Maps the words of a query to the words of the index.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rusqlite::Connection;

use super::rank::{Having, SEQUENCE, Wanted, rarity};
use super::remote::RemoteCandidates;
use super::vocabulary;
use crate::ArchiveError;
use crate::browse::narrow;
use crate::language::Language;
use crate::query::{Query, Word};
use crate::terms::hash;

/// The weight of a longer word that begins with the typed one.
const LONGER: f64 = 0.5;

/// The weight of a word of which the typed one may be a typo.
const SLIP: f64 = 0.8;

/// The maximum number of words of a query that are treated as typos. Each costs a scan of the vocabulary.
const MOST_CORRECTED: usize = 4;

/// The number of documents up to which a word is counted. It is above the budget of the first ranking, which therefore
/// knows the exact number of a word that it may use.
const COUNTED: usize = 16_000;

/// The number of samples for an estimate, and the documents of each. They are fewer than [`COUNTED`] together.
const SAMPLES: usize = 8;
const SAMPLE: usize = 1_024;

/// The maximum number of documents of a sequence, or of one char, that are listed one by one.
const KNOWN: usize = 20_000;

/// The sources that answer a query.
pub(super) struct Index<'a> {
    pub(super) connection: &'a Connection,
    /// The first row that no document of this archive has.
    pub(super) rows: usize,
    /// An upper bound of the number of documents here and in other archives. It includes removed documents.
    pub(super) documents: usize,
    /// The number of messages that are not indexed yet, for each word of the query that they have, by its index.
    pub(super) pending: &'a HashMap<usize, usize>,
    /// The languages that its words in Latin letters may be in.
    pub(super) languages: &'a [Language],
    /// The documents of other archives for the query.
    pub(super) remote: Option<&'a RemoteCandidates>,
}

impl Index<'_> {
    /// Returns how many documents of other archives have a part of the query.
    fn remote(&self, part: usize) -> usize {
        self.remote.and_then(|remote| remote.counts.get(part)).copied().unwrap_or(0)
    }

    /// Returns the candidates of other archives that have a part, each with this count of it.
    fn having(&self, part: usize, counts: f64) -> HashMap<usize, f64> {
        self.remote.map(|remote| remote.having(part, counts)).unwrap_or_default()
    }
}

/// A query as the index can answer it.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub(super) wanted: Vec<Wanted>,
    /// The FTS5 expression of each part that finds documents, and how many it finds.
    pub(super) parts: Vec<(String, usize)>,
    /// Words that replaced typed ones.
    pub(super) instead: Vec<String>,
    /// How many words were treated as typos.
    corrected: usize,
}

impl Resolved {
    /// Looks up every word of a query in the index. Longer words are looked up only if at most `enough` documents have
    /// the word. `quoted` are the quoted parts as FTS5 expressions.
    pub(super) fn of(
        index: &Index<'_>,
        (query, quoted): (&Query, &[String]),
        enough: usize,
    ) -> Result<Self, ArchiveError> {
        let mut resolved = Self::default();
        for (part, word) in query.words.iter().enumerate() {
            resolved.word(index, (part, word), enough)?;
        }
        let beginnings = query.chars.iter().map(|beginning| (format!("words : \"{beginning}\" *"), true));
        let quoted = quoted.iter().map(|expression| (expression.clone(), true));
        let sequences = query.sequences.iter().map(|tokens| (sequence(tokens), false));
        for (part, (expression, is_term)) in (query.words.len()..).zip(beginnings.chain(quoted).chain(sequences)) {
            resolved.exact(index, part, (expression, is_term))?;
        }
        Ok(resolved)
    }

    /// Resolves a part that a text either has or does not have, whatever its terms are. A part that is no term finds
    /// nothing by itself.
    fn exact(
        &mut self,
        index: &Index<'_>,
        part: usize,
        (expression, is_term): (String, bool),
    ) -> Result<(), ArchiveError> {
        let documents = documents(index.connection, &expression)?;
        let (here, remote) = (documents.len(), index.having(part, 1.0));
        let worth = rarity(index.documents, here + index.remote(part));
        if is_term {
            self.parts.push((expression, here));
        } else if documents.is_empty() && remote.is_empty() {
            return Ok(());
        }
        let worth = if is_term { worth } else { SEQUENCE * worth };
        self.wanted.push(Wanted { worth, having: Having::Documents(documents), is_term, remote });
        Ok(())
    }

    fn word(&mut self, index: &Index<'_>, (at, word): (usize, &Word), enough: usize) -> Result<(), ArchiveError> {
        let connection = index.connection;
        let pending = index.pending.get(&at).copied().unwrap_or(0) + index.remote(at);
        let mut forms: Vec<String> = word.forms().map(str::to_owned).collect();
        let mut hashes: Vec<(u32, f64)> = word.stems.iter().map(|stem| (hash(stem), 1.0)).collect();
        let mut count = count(connection, index.rows, &any(&forms))?;
        if word.open && count <= enough {
            let longer = vocabulary::longer(connection, word)?;
            let is_slip = longer.is_empty() && count + pending == 0 && self.corrected < MOST_CORRECTED;
            self.corrected += usize::from(is_slip);
            let (instead, weight) =
                if is_slip { (vocabulary::slips(connection, word)?, SLIP) } else { (longer, LONGER) };
            for term in instead {
                for form in Word::of(term.clone(), index.languages, true).forms() {
                    if !hashes.iter().any(|(known, _)| *known == hash(form)) {
                        hashes.push((hash(form), weight));
                    }
                    if !forms.iter().any(|known| known == form) {
                        forms.push(form.to_owned());
                    }
                }
                self.instead.push(term);
            }
            count = self::count(connection, index.rows, &any(&forms))?;
        }
        self.parts.push((any(&forms), count));
        let having = Having::Terms(hashes);
        let (worth, remote) = (rarity(index.documents, count + pending), index.having(at, LONGER));
        self.wanted.push(Wanted { worth, having, is_term: true, remote });
        Ok(())
    }
}

/// Returns the FTS5 expression for tokens that must follow each other.
pub(super) fn sequence(tokens: &[String]) -> String {
    format!("words : \"{}\"", tokens.join(" "))
}

/// Returns the FTS5 expression for any of these forms. Tokens consist of letters, digits and marks, so no token can end
/// the quotes.
fn any(forms: &[String]) -> String {
    let quoted: Vec<String> = forms.iter().map(|form| format!("\"{form}\"")).collect();
    format!("({})", quoted.join(" OR "))
}

/// Returns how many of `all` documents an expression finds. A large number is estimated from samples, at equal distances
/// among all documents, because counting takes as long as the number is large.
fn count(connection: &Connection, all: usize, expression: &str) -> Result<usize, ArchiveError> {
    let count = |rows: Range<usize>, most: usize| -> Result<usize, ArchiveError> {
        let query = "SELECT count(*) FROM
             (SELECT 1 FROM word WHERE word MATCH ?1 AND rowid >= ?2 AND rowid < ?3 LIMIT ?4)";
        let mut query = connection.prepare_cached(query)?;
        let range = rusqlite::params![expression, narrow(rows.start), narrow(rows.end), narrow(most)];
        Ok(query.query_row(range, |row| row.get(0))?)
    };
    let counted = count(0..usize::MAX, COUNTED)?;
    if counted < COUNTED {
        return Ok(counted);
    }
    let mut found = 0;
    for sample in 0..SAMPLES {
        let from = all / SAMPLES * sample;
        found += count(from..from + SAMPLE, SAMPLE)?;
    }
    Ok(COUNTED.max(found * all / (SAMPLES * SAMPLE)))
}

/// Returns the documents of an expression, the newest if they are too many.
fn documents(connection: &Connection, expression: &str) -> Result<HashSet<i64>, ArchiveError> {
    let query = "SELECT rowid FROM word WHERE word MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map(rusqlite::params![expression, narrow(KNOWN)], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_count_is_estimated_and_a_small_one_exact() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE word USING fts5 (words); BEGIN").unwrap();
        let rows = 160_000;
        let mut insert = connection.prepare("INSERT INTO word (rowid, words) VALUES (?1, ?2)").unwrap();
        for row in 1..=rows {
            // Words come and go in stretches, as in conversations.
            let third = if row / 700 % 3 == 0 { "third" } else { "" };
            let rare = if row % 10_000 == 7 { "rare" } else { "" };
            // A whole sample is in it.
            let topic = if (19_000..23_000).contains(&row) { "topic" } else { "" };
            insert.execute(rusqlite::params![row, format!("each {third} {rare} {topic}")]).unwrap();
        }
        let count = |expression| count(&connection, rows + 1, expression).unwrap();
        assert_eq!((count("rare"), count("none"), count("topic")), (16, 0, 4_000));
        assert!((150_000..=rows + 1).contains(&count("each")), "{}", count("each"));
        assert!((32_000..75_000).contains(&count("third")), "{}", count("third"));
    }
}
