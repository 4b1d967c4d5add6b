//! Documents whose vectors are similar to that of the query, and how they are merged with the ranking by words.

use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::Search;
use super::rank::DocumentId;
use crate::ArchiveError;
use crate::index::Kind;
use crate::packed::{cosine_similarity, unit};
use crate::transcript::find_session_key;

/// The maximum number of similar documents that count.
const COUNTED: usize = 100;

/// Added to a rank before its reciprocal is taken: the constant of reciprocal rank fusion (Cormack, Clarke and
/// Buettcher, 2009), which is 60 there, for lists of equal worth. Here the list by words also knows the messages
/// around, and its first places must stay. The values 60 and 0.7 cost 9 of 100 first hits on the questions of
/// `benches/relevance`.
const RANK: f64 = 5.0;

/// The weight of a rank by similarity, relative to a rank by words; chosen on the same questions.
const WORTH: f64 = 0.35;

/// The minimum similarity, as a share of the best one.
const LIKE_THE_BEST: f32 = 0.6;

/// Returns the most similar documents, the best first.
pub(super) fn nearest(
    connection: &Connection,
    search: &Search<'_>,
    sessions: Option<&[String]>,
    vector: &[f32],
) -> Result<Vec<i64>, ArchiveError> {
    let Some(unit) = unit(vector) else { return Ok(Vec::new()) };
    let keys: Vec<i64> = match sessions {
        None => Vec::new(),
        Some(sessions) => {
            let keys = sessions.iter().map(|session| find_session_key(connection, session));
            keys.filter_map(Result::transpose).collect::<Result<_, _>>()?
        }
    };
    let mut conditions = kinds(search);
    let mut values: Vec<&dyn ToSql> = Vec::new();
    if let Some(profile) = &search.profile {
        conditions.push_str(" AND document.profile = ?");
        values.push(profile);
    }
    for (condition, time) in [(" AND document.time >= ?", &search.since), (" AND document.time < ?", &search.until)] {
        if let Some(time) = time {
            conditions.push_str(condition);
            values.push(time);
        }
    }
    if sessions.is_some() {
        let marks = vec!["?"; keys.len()].join(",");
        conditions.push_str(&format!(" AND document.id IN (SELECT id FROM document_terms WHERE session IN ({marks}))"));
        values.extend(keys.iter().map(|key| key as &dyn ToSql));
    }
    let query = format!(
        "SELECT vector.id, vector.body FROM vector JOIN document ON document.id = vector.id WHERE 1{conditions}"
    );
    let mut query = connection.prepare_cached(&query)?;
    let mut rows = query.query(values.as_slice())?;
    let mut found: Vec<(f32, i64)> = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(similarity) = cosine_similarity(row.get_ref(1)?.as_blob().unwrap_or_default(), &unit) {
            found.push((similarity, row.get(0)?));
        }
    }
    found.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    let least = found.first().map_or(0.0, |(best, _)| best * LIKE_THE_BEST);
    Ok(found
        .into_iter()
        .take(COUNTED)
        .take_while(|(like, _)| *like >= least && *like > 0.0)
        .map(|(_, id)| id)
        .collect())
}

fn kinds(search: &Search<'_>) -> String {
    let kinds = search.kinds;
    let wanted = [(kinds.messages, Kind::Message), (kinds.outputs, Kind::Output), (kinds.memory, Kind::Memory)];
    let wanted = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, kind)| (kind as i64).to_string());
    format!(" AND document.kind IN ({})", wanted.collect::<Vec<_>>().join(","))
}

/// Merges both lists. The score of a document is the sum of what its ranks are worth. Documents that only words found
/// keep their order.
pub(super) fn fused(by_words: &[(DocumentId, f64)], by_likeness: &[i64]) -> Vec<(DocumentId, f64)> {
    let worth = |rank: usize| 1.0 / (RANK + 1.0 + u32::try_from(rank).map_or(f64::INFINITY, f64::from));
    let mut scores: HashMap<DocumentId, f64> = HashMap::new();
    for (rank, (id, _)) in by_words.iter().enumerate() {
        *scores.entry(*id).or_default() += worth(rank);
    }
    for (rank, id) in by_likeness.iter().enumerate() {
        *scores.entry(DocumentId::Local(*id)).or_default() += WORTH * worth(rank);
    }
    let mut fused: Vec<(DocumentId, f64)> = scores.into_iter().collect();
    fused.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_have_comes_first() {
        let by_words = [(1, 9.0), (2, 8.0), (3, 1.0)].map(|(id, score)| (DocumentId::Local(id), score));
        for (by_likeness, expect) in
            [(&[][..], &[1, 2, 3][..]), (&[3], &[3, 1, 2]), (&[7, 2], &[2, 1, 3, 7]), (&[7], &[1, 2, 3, 7])]
        {
            let fused = fused(&by_words, by_likeness).into_iter();
            let fused: Vec<DocumentId> = fused.map(|(id, _)| id).collect();
            let expect: Vec<DocumentId> = expect.iter().map(|id| DocumentId::Local(*id)).collect();
            assert_eq!(fused, expect, "{by_likeness:?}");
        }
    }
}
