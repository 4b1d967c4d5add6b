//! Builds a hit from a document of the index.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Hit, Surroundings};
use crate::handle::Source;
use crate::index::Kind;
use crate::{ArchiveError, text_of};

const OUTPUT: i64 = Kind::Output as i64;
const MEMORY: i64 = Kind::Memory as i64;

/// Returns the document as a hit, without a score.
pub(crate) fn of(connection: &Connection, id: i64) -> Result<Hit, ArchiveError> {
    let found = match kind_of(connection, id)? {
        Some(OUTPUT) => output_hit(connection, id)?,
        Some(MEMORY) => memory_hit(connection, id)?,
        _ => message_hit(connection, id)?,
    };
    let missing =
        || ArchiveError::Damaged { words: format!("the text index has a document {id} that is nowhere else") };
    found.ok_or_else(missing)
}

fn kind_of(connection: &Connection, id: i64) -> Result<Option<i64>, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT kind FROM document WHERE id = ?1")?;
    Ok(query.query_row([id], |row| row.get(0)).optional()?)
}

fn message_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query = connection.prepare_cached(
        "SELECT message.id, session_key.id, session.profile, role, message.time, body, session.agent, session.source,
            session.cwd
         FROM message JOIN session_key ON session_key.key = message.session
         JOIN session ON session.id = session_key.id WHERE message.id = ?1",
    )?;
    let hit = query.query_row(params![id], |row| {
        let role: String = row.get(3)?;
        Ok(Hit {
            source: Source::Message { id: row.get(0)? },
            session: row.get(1)?,
            profile: row.get(2)?,
            agent: row.get(6)?,
            origin: row.get(7)?,
            folder: row.get(8)?,
            role: (!role.is_empty()).then_some(role),
            time: row.get(4)?,
            score: 0.0,
            text: Some(text_of(row.get_ref(5)?.as_str()?)),
            around: Surroundings::default(),
        })
    });
    Ok(hit.optional()?)
}

fn output_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query = connection.prepare_cached(
        "SELECT handle, line, start, chars, session, output.profile, document.time
         FROM output_part JOIN output ON output.key = output_part.output
         JOIN document ON document.id = output_part.id WHERE output_part.id = ?1",
    )?;
    let hit = query.query_row([id], |row| {
        Ok(Hit {
            source: Source::Output { handle: row.get(0)?, line: row.get(1)?, start: row.get(2)?, chars: row.get(3)? },
            session: row.get(4)?,
            profile: row.get(5)?,
            agent: None,
            origin: None,
            folder: None,
            role: None,
            time: row.get(6)?,
            score: 0.0,
            text: None,
            around: Surroundings::default(),
        })
    });
    Ok(hit.optional()?)
}

fn memory_hit(connection: &Connection, id: i64) -> Result<Option<Hit>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT id, session, profile, time, text FROM memory_text WHERE id = ?1")?;
    let hit = query.query_row([id], |row| {
        Ok(Hit {
            source: Source::Memory { id: row.get(0)? },
            session: row.get(1)?,
            profile: row.get(2)?,
            agent: None,
            origin: None,
            folder: None,
            role: None,
            time: row.get(3)?,
            score: 0.0,
            text: row.get(4)?,
            around: Surroundings::default(),
        })
    });
    Ok(hit.optional()?)
}
