//! Notes the data with which a compression can be undone.

use std::collections::HashMap;

use rusqlite::{Transaction, params};

use super::pieces::{self, Source};
use super::{LISTS, Undoable, message_digest};
use crate::ArchiveError;
use crate::removed::{After, Removal};
use crate::transcript::{session_key, to_u64};

/// Notes how the list before a compression can be restored. The messages must be at their new positions already, and
/// the engine memory must still be the earlier one.
pub(crate) fn note(
    transaction: &Transaction<'_>,
    removal: &Removal<'_>,
    undoable: &Undoable<'_>,
) -> Result<(), ArchiveError> {
    let key = session_key(transaction, removal.session)?;
    let in_list =
        rows(transaction, "SELECT position, id FROM message_row WHERE session = ?1 AND compression IS NULL", key)?;
    // If a row that the caller did not mention left at the same position as another row, the later row is that of the
    // list.
    let removed = rows(
        transaction,
        "SELECT position, max(id) FROM message_row WHERE compression = ?1 GROUP BY position",
        removal.handle,
    )?;
    let mut sources: Vec<Option<Source>> =
        (0..undoable.length).map(|at| removed.get(&at).map(|id| Source::Row(*id))).collect();
    for (new, after) in (0..).zip(undoable.slots) {
        let After::Kept(old) = after else { continue };
        let source = in_list.get(&new).map_or(Source::After(new), |id| Source::Row(*id));
        if let Some(place) = usize::try_from(*old).ok().and_then(|old| sources.get_mut(old)) {
            *place = Some(source);
        }
    }
    let Some(sources) = sources.into_iter().collect::<Option<Vec<Source>>>() else {
        let words = "a message of the list is neither kept nor in the new one".into();
        return Err(ArchiveError::Misfit { session: removal.session.into(), words });
    };
    transaction
        .prepare_cached(
            "INSERT INTO list_before (handle, session, generation, pieces, length, sha256, state, summary)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT state FROM engine WHERE session = ?2),
                     (SELECT summary FROM engine WHERE session = ?2))",
        )?
        .execute(params![
            removal.handle,
            removal.session,
            removal.generation,
            pieces::write(sources.into_iter()),
            to_u64(undoable.list.len()),
            message_digest(undoable.list.iter().copied()),
        ])?;
    transaction
        .prepare_cached(
            "DELETE FROM list_before WHERE session = ?1 AND generation NOT IN
                 (SELECT generation FROM list_before WHERE session = ?1 ORDER BY generation DESC LIMIT ?2)",
        )?
        .execute(params![removal.session, LISTS])?;
    Ok(())
}

fn rows(
    transaction: &Transaction<'_>,
    query: &str,
    of: impl rusqlite::ToSql,
) -> Result<HashMap<u64, i64>, ArchiveError> {
    let mut query = transaction.prepare_cached(query)?;
    let rows = query.query_map([of], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
