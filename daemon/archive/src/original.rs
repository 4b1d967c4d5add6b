//! Maps messages that are in a list in a shorter form to their full form.

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};

use crate::ArchiveError;
use crate::removed::Removal;

/// A message that stays in a list in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortened<'a> {
    /// Its position in the list before.
    pub from: u64,
    /// Its position in the list after.
    pub to: u64,
    /// Its new form, as JSON text.
    pub body: &'a str,
}

/// Notes where the full forms are of messages that a compression left in the list in another form. In a transcript it
/// also notes the row with the new form, because two rows may have the same text.
pub(crate) fn save(
    transaction: &Transaction<'_>,
    removal: &Removal<'_>,
    shortened: &[Shortened<'_>],
) -> Result<(), ArchiveError> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO original (session, sha256, generation, handle, position, message)
         VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM message_row WHERE position = ?6 AND compression IS NULL
                                      AND session = (SELECT key FROM session_key WHERE id = ?1)))",
    )?;
    for Shortened { from, to, body } in shortened {
        let row = removal.is_transcript.then_some(to);
        insert.execute(params![removal.session, digest(body), removal.generation, removal.handle, from, row])?;
    }
    Ok(())
}

/// Selects the positions of the messages that the compression ?1 left in the list in another form. The compression may
/// belong to a session that the requested one continues.
pub(crate) const STAYED: &str = "SELECT original.position FROM original
     WHERE original.session = (SELECT made.session FROM compression AS made WHERE made.handle = ?1) AND original.handle = ?1";

/// A message that may have left a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left<'a> {
    /// The id of its row.
    pub(crate) id: u64,
    /// Its session.
    pub(crate) session: &'a str,
    /// The generation that it left.
    pub(crate) generation: u64,
    /// The compression that removed it; `None` if it is still in the list.
    pub(crate) handle: Option<&'a str>,
    /// Its JSON text.
    pub(crate) body: &'a str,
}

/// Returns the handle and the position of the full form of a message, if it is a shorter form. The note for its row
/// counts first. Otherwise, if several notes have the same text, the latest before the message left counts. `lineage`
/// is its session and the sessions that it continues, nearest first.
pub(crate) fn find(
    connection: &Connection,
    lineage: &[String],
    left: &Left<'_>,
) -> Result<Option<(String, u64)>, ArchiveError> {
    let mut noted = connection.prepare_cached(
        "SELECT handle, position FROM original WHERE message = ?1 AND handle IS NOT ?2 ORDER BY generation DESC LIMIT 1",
    )?;
    let by_row = noted.query_row(params![left.id, left.handle], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    if by_row.is_some() {
        return Ok(by_row);
    }
    let mut query = connection.prepare_cached(
        "SELECT handle, position FROM original WHERE session = ?1 AND sha256 = ?2 AND generation <= ?3
         AND handle IS NOT ?4 ORDER BY generation DESC, position DESC LIMIT 1",
    )?;
    let digest = digest(left.body);
    for session in lineage {
        // Each session counts its own generations.
        let until = if session == left.session { left.generation } else { i64::MAX.unsigned_abs() };
        let about = params![session, digest, until, left.handle];
        if let Some(found) = query.query_row(about, |row| Ok((row.get(0)?, row.get(1)?))).optional()? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn digest(body: &str) -> [u8; 32] {
    Sha256::digest(body).into()
}
