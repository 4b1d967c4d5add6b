//! Finds words of the index that replace a word which the index does not have, or hardly has: longer ones that begin
//! with it, and those of which it may be a typo.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use rusqlite::{Connection, params};
use strsim::osa_distance;

use crate::ArchiveError;
use crate::browse::narrow;
use crate::query::Word;

/// The maximum number of longer words that are examined, and of the documents that they are in. FTS5 counts the documents
/// of each word one by one.
const LONGER: usize = 200;
const LONGER_DOCUMENTS: i64 = 30_000;

/// The maximum number of longer words that replace one word.
const MOST_LONGER: usize = 12;

/// Chars of the shortest word that may be a typo.
const SHORTEST_SLIP: usize = 4;

/// Chars from which on a typo may have two edits.
const LONG: usize = 8;

/// How many letters are the beginning of a word. A typo in them is looked up letter by letter, and one behind them is
/// found among the words with the same beginning.
const BEGINNING: usize = 2;

/// The maximum number of words with the same beginning that are examined for a typo.
const LOOKED_AT: usize = 50_000;

/// The maximum number of words that replace one typo.
const MOST_SLIPS: usize = 3;

/// Returns the words of the index that begin with a word and are longer, the most common first.
pub(super) fn longer(connection: &Connection, word: &Word) -> Result<Vec<String>, ArchiveError> {
    let mut found =
        between(connection, (&word.token, &format!("{}\u{10ffff}", word.token)), (LONGER, LONGER_DOCUMENTS))?;
    found.retain(|(term, _)| !word.forms().any(|form| form == term));
    found.sort_by_key(|(_, documents)| Reverse(*documents));
    Ok(found.into_iter().take(MOST_LONGER).map(|(term, _)| term).collect())
}

/// Returns the words of the index of which a word may be a typo. One edit leaves out, adds or changes a letter, or
/// swaps two neighbours. A word of [`LONG`] chars and more may have two edits. Only the nearest words are returned.
pub(super) fn slips(connection: &Connection, word: &Word) -> Result<Vec<String>, ArchiveError> {
    let token = word.token.as_str();
    let chars = token.chars().count();
    if chars < SHORTEST_SLIP || !token.chars().all(char::is_alphabetic) {
        return Ok(Vec::new());
    }
    let most = if chars >= LONG { 2 } else { 1 };
    let mut found = with_same_beginning(connection, token)?;
    found.extend(with_another_beginning(connection, token)?);
    let mut near: Vec<(usize, Reverse<i64>, String)> = found
        .into_iter()
        .filter(|(term, _)| term.chars().count().abs_diff(chars) <= most && term.chars().all(char::is_alphabetic))
        .map(|(term, documents)| (osa_distance(token, &term), Reverse(documents), term))
        .filter(|(distance, ..)| *distance <= most)
        .collect();
    near.sort();
    near.dedup();
    let nearest = near.first().map_or(0, |(distance, ..)| *distance);
    let nearest = near.into_iter().take_while(|(distance, ..)| *distance == nearest);
    Ok(nearest.take(MOST_SLIPS).map(|(.., term)| term).collect())
}

/// Returns the words with the same first letters: two if the alphabet is known, so that other words can be looked up.
fn with_same_beginning(connection: &Connection, token: &str) -> Result<Vec<(String, i64)>, ArchiveError> {
    let count = if alphabet(token).is_some() { BEGINNING } else { 1 };
    let first: String = token.chars().take(count).collect();
    // After the first char, digits sort before letters. The range skips them: they are ids, of which there may be very
    // many.
    let (from, to) = (format!("{first}a"), format!("{first}\u{10ffff}"));
    between(connection, (&from, &to), (LOOKED_AT, i64::MAX))
}

/// Returns the words that differ by one edit of the first letters.
fn with_another_beginning(connection: &Connection, token: &str) -> Result<Vec<(String, i64)>, ArchiveError> {
    let Some(alphabet) = alphabet(token) else { return Ok(Vec::new()) };
    let letters: Vec<char> = token.chars().collect();
    let mut query = connection.prepare_cached("SELECT term, doc FROM vocabulary WHERE term = ?1")?;
    let mut found = Vec::new();
    let mut look_up = |before: &[char], between: &[char], after: &[char]| -> Result<(), ArchiveError> {
        let word: String = before.iter().chain(between).chain(after).collect();
        let rows = query.query_map([&word], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            found.push(row?);
        }
        Ok(())
    };
    for at in 0..BEGINNING.min(letters.len().saturating_sub(1)) {
        let (before, rest) = letters.split_at(at);
        let [one, next, after @ ..] = rest else { continue };
        look_up(before, &[*next], after)?;
        look_up(before, &[*next, *one], after)?;
        for letter in alphabet.clone() {
            look_up(before, &[letter], rest)?;
            look_up(before, &[letter, *next], after)?;
        }
    }
    Ok(found)
}

/// Returns the letters of a word's alphabet, if all of its letters are in it.
fn alphabet(token: &str) -> Option<RangeInclusive<char>> {
    ['a'..='z', 'а'..='я'].into_iter().find(|letters| token.chars().all(|char| letters.contains(&char)))
}

/// Returns the words of the index in a range, and in how many documents each is. Ends after `limit` words, or after words
/// that are in more than `most` documents together.
fn between(
    connection: &Connection,
    (from, to): (&str, &str),
    (limit, most): (usize, i64),
) -> Result<Vec<(String, i64)>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT term, doc FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3")?;
    let mut rows = query.query(params![from, to, narrow(limit)])?;
    let (mut found, mut documents) = (Vec::new(), 0_i64);
    while documents <= most
        && let Some(row) = rows.next()?
    {
        let count: i64 = row.get(1)?;
        documents = documents.saturating_add(count);
        found.push((row.get(0)?, count));
    }
    Ok(found)
}
