//! Ranks documents of the time that a query is about above others.

use rusqlite::{Connection, OptionalExtension};

use super::filter::Filter;
use super::rank::DocumentId;
use super::{Search, any_of, by_rarity};
use crate::ArchiveError;

/// The bonus of a document of the time that a query is about. With it, a document with half of the words is better than
/// one of another time that has all of them.
const IN_PERIOD: f64 = 2.0;

/// The maximum number of documents of any time that may have the words with which documents of that time are found.
/// There is no index by time, so all of them are examined.
const EXAMINED: usize = 100_000;

/// Returns the documents of the search's period that have the rarer words.
pub(super) fn candidates(
    connection: &Connection,
    (search, sessions): (&Search<'_>, Option<&[String]>),
    parts: &[(String, usize)],
    limit: usize,
) -> Result<Vec<(i64, f64)>, ArchiveError> {
    let Some((from, to)) = search.period else { return Ok(Vec::new()) };
    let since = search.since.map_or(from, |since| since.max(from));
    let until = search.until.map_or(to, |until| until.min(to));
    let within = Search { since: Some(since), until: Some(until), ..*search };
    let Some(filter) = Filter::of(connection, &within, sessions)? else { return Ok(Vec::new()) };
    let (examined, _) = by_rarity(parts, EXAMINED);
    if examined.is_empty() {
        return Ok(Vec::new());
    }
    filter.best(connection, &any_of(&examined), (limit, EXAMINED))
}

/// Adds the bonus to the scores of documents of a period, and sorts them anew.
pub(super) fn favour(
    connection: &Connection,
    (from, to): (f64, f64),
    ranked: &mut [(DocumentId, f64)],
) -> Result<(), ArchiveError> {
    // A message that is not indexed yet is no document.
    let mut query = connection.prepare_cached(
        "SELECT time FROM document WHERE id = ?1 UNION ALL SELECT time FROM message WHERE id = ?1 LIMIT 1",
    )?;
    for (id, score) in ranked.iter_mut() {
        let DocumentId::Local(id) = id else { continue };
        let time: Option<f64> = query.query_row([*id], |row| row.get(0)).optional()?;
        if time.is_some_and(|time| (from..to).contains(&time)) {
            *score *= 1.0 + IN_PERIOD;
        }
    }
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    Ok(())
}
