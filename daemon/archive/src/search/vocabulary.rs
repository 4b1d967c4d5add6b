//! Finds words of the index that replace a word which the index does not have, or hardly has: longer ones that begin
//! with it, and those of which it may be a typo.

use std::cmp::Reverse;

use rusqlite::{Connection, params};
use strsim::osa_distance;

use crate::ArchiveError;
use crate::browse::narrow;
use crate::query::Word;

/// The maximum number of longer words that are examined.
const LONGER: usize = 200;

/// The maximum number of longer words that replace one word.
const MOST_LONGER: usize = 12;

/// Chars of the shortest word that may be a typo.
const SHORTEST_SLIP: usize = 4;

/// Chars from which on a typo may have two edits.
const LONG: usize = 8;

/// The maximum number of words with the same first letter that are examined for a typo.
const LOOKED_AT: usize = 50_000;

/// The maximum number of words that replace one typo.
const MOST_SLIPS: usize = 3;

/// Returns the words of the index that begin with a word and are longer, the most common first.
pub(super) fn longer(connection: &Connection, word: &Word) -> Result<Vec<String>, ArchiveError> {
    let mut found = between(connection, &word.token, &format!("{}\u{10ffff}", word.token), LONGER)?;
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
    // As second char, digits sort before letters. The range skips them: they are ids, of which there may be very many.
    let (first, end): (String, String) =
        token.chars().take(1).map(|char| (format!("{char}a"), format!("{char}\u{10ffff}"))).unzip();
    let mut found = between(connection, &first, &end, LOOKED_AT)?;
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

/// Returns the words that differ by one edit of the first letter.
fn with_another_beginning(connection: &Connection, token: &str) -> Result<Vec<(String, i64)>, ArchiveError> {
    let mut letters = token.chars();
    let (Some(first), Some(second)) = (letters.next(), letters.next()) else { return Ok(Vec::new()) };
    let rest = letters.as_str();
    let mut variants = vec![format!("{second}{rest}"), format!("{second}{first}{rest}")];
    for letter in 'a'..='z' {
        variants.push(format!("{letter}{token}"));
        variants.push(format!("{letter}{second}{rest}"));
    }
    let mut query = connection.prepare_cached("SELECT term, doc FROM vocabulary WHERE term = ?1")?;
    let mut found = Vec::new();
    for variant in variants {
        let rows = query.query_map([&variant], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
}

/// Returns the words of the index in a range, and in how many documents each is.
fn between(connection: &Connection, from: &str, to: &str, limit: usize) -> Result<Vec<(String, i64)>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT term, doc FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3")?;
    let rows = query.query_map(params![from, to, narrow(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
