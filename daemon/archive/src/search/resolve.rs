//! From what was typed to what the index has of it.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::rank::{Having, SEQUENCE, Wanted, rarity};
use super::vocabulary;
use crate::ArchiveError;
use crate::browse::narrow;
use crate::language::Language;
use crate::query::{Query, Word};
use crate::terms::hash;

/// What a longer word counts that only begins with the one that was typed.
const LONGER: f64 = 0.5;

/// What a word counts that the typed one may be a slip of.
const SLIP: f64 = 0.8;

/// Words of a query that are taken for slips at most: each costs a look through the vocabulary.
const MOST_CORRECTED: usize = 4;

/// Documents that are counted; with so many, a word says next to nothing.
const COUNTED: usize = 200_000;

/// Documents of a sequence, or of one char, that are known one by one.
const KNOWN: usize = 20_000;

/// What a query is answered from.
pub(super) struct Index<'a> {
    pub(super) connection: &'a Connection,
    /// How many there are in all, those of before included.
    pub(super) documents: usize,
    /// Messages that are not in the index yet and have a word of the query, by its place.
    pub(super) pending: &'a HashMap<usize, usize>,
    /// What its words of Latin letters may be in.
    pub(super) languages: &'a [Language],
}

/// A query as the index can answer it.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub(super) wanted: Vec<Wanted>,
    /// The words of FTS5 for each part that finds documents, and in how many it is.
    pub(super) parts: Vec<(String, usize)>,
    /// Words that were taken in the place of typed ones.
    pub(super) instead: Vec<String>,
    /// Words that were taken for slips.
    corrected: usize,
}

impl Resolved {
    /// Asks the index for every word of a query; `enough` are so many documents that longer words
    /// need not be looked for.
    pub(super) fn of(index: &Index<'_>, query: &Query, enough: usize) -> Result<Self, ArchiveError> {
        let (connection, all) = (index.connection, index.documents);
        let mut resolved = Self::default();
        for (at, word) in query.words.iter().enumerate() {
            resolved.word(index, (at, word), enough)?;
        }
        for beginning in &query.chars {
            let expression = format!("words : \"{beginning}\" *");
            let documents = documents(connection, &expression)?;
            let worth = rarity(all, documents.len());
            resolved.parts.push((expression, documents.len()));
            resolved.wanted.push(Wanted { worth, having: Having::Documents(documents), is_term: true });
        }
        for tokens in &query.quoted {
            let documents = documents(connection, &sequence(tokens))?;
            let worth = rarity(all, documents.len());
            resolved.parts.push((sequence(tokens), documents.len()));
            resolved.wanted.push(Wanted { worth, having: Having::Documents(documents), is_term: true });
        }
        for tokens in &query.sequences {
            let documents = documents(connection, &sequence(tokens))?;
            if !documents.is_empty() {
                let worth = SEQUENCE * rarity(all, documents.len());
                resolved.wanted.push(Wanted { worth, having: Having::Documents(documents), is_term: false });
            }
        }
        Ok(resolved)
    }

    fn word(&mut self, index: &Index<'_>, (at, word): (usize, &Word), enough: usize) -> Result<(), ArchiveError> {
        let connection = index.connection;
        let pending = index.pending.get(&at).copied().unwrap_or(0);
        let mut forms: Vec<String> = word.forms().map(str::to_owned).collect();
        let mut hashes: Vec<(u32, f64)> = word.stems.iter().map(|stem| (hash(stem), 1.0)).collect();
        let mut count = count(connection, &any(&forms))?;
        if word.open && count <= enough {
            let longer = vocabulary::longer(connection, word)?;
            let is_slip = longer.is_empty() && count + pending == 0 && self.corrected < MOST_CORRECTED;
            self.corrected += usize::from(is_slip);
            let (instead, weight) = match is_slip {
                true => (vocabulary::slips(connection, word)?, SLIP),
                false => (longer, LONGER),
            };
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
            count = self::count(connection, &any(&forms))?;
        }
        self.parts.push((any(&forms), count));
        let having = Having::Terms(hashes);
        self.wanted.push(Wanted { worth: rarity(index.documents, count + pending), having, is_term: true });
        Ok(())
    }
}

/// Tokens that must follow each other, in the words of FTS5.
pub(super) fn sequence(tokens: &[String]) -> String {
    format!("words : \"{}\"", tokens.join(" "))
}

/// Any of these forms, in the words of FTS5. Tokens consist of letters, digits and marks, so that
/// nothing in the quotes can end them.
fn any(forms: &[String]) -> String {
    let quoted: Vec<String> = forms.iter().map(|form| format!("\"{form}\"")).collect();
    format!("({})", quoted.join(" OR "))
}

fn count(connection: &Connection, expression: &str) -> Result<usize, ArchiveError> {
    let query = "SELECT count(*) FROM (SELECT 1 FROM word WHERE word MATCH ?1 LIMIT ?2)";
    let mut query = connection.prepare_cached(query)?;
    Ok(query.query_row(rusqlite::params![expression, narrow(COUNTED)], |row| row.get(0))?)
}

/// The documents of an expression, the newest first where they are too many.
fn documents(connection: &Connection, expression: &str) -> Result<HashSet<i64>, ArchiveError> {
    let query = "SELECT rowid FROM word WHERE word MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map(rusqlite::params![expression, narrow(KNOWN)], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
