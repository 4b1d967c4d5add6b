//! The way back from the current list to an earlier one.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::pieces::{self, Source};
use super::{Bodies, Undo, UndoRejection, digest, message_digest, normal_digest};
use crate::ArchiveError;
use crate::engine::EngineRow;
use crate::normal::normal_message;
use crate::transcript::{find_session_key, generation_of, to_u64};

/// The maximum number of messages in a list; no list that came over the wire has as many.
const MESSAGES: u64 = 1 << 24;

/// A message of the restored list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// It is in the row of this id.
    Row(i64),
    /// Only the caller has it, at this place of its list.
    Given(usize, &'a str),
}

impl<'a> Place<'a> {
    /// Returns the text, if only the caller has it.
    pub(super) const fn given(self) -> Option<&'a str> {
        match self {
            Self::Row(_) => None,
            Self::Given(_, text) => Some(text),
        }
    }

    /// Returns a key that differs for every place.
    const fn key(&self) -> (bool, i64, usize) {
        match *self {
            Self::Row(id) => (true, id, 0),
            Self::Given(at, _) => (false, 0, at),
        }
    }
}

/// The end of the way back.
#[derive(Debug)]
pub(super) struct Back<'a> {
    /// The number that represents the session in rows.
    pub key: i64,
    /// Its current generation.
    pub current: u64,
    /// The generation whose list it is.
    pub restored: u64,
    /// The compressions on the way, newest first.
    pub handles: Vec<String>,
    /// The whole list.
    pub list: Vec<Place<'a>>,
    /// How many of its messages were added since.
    pub since: u64,
    /// Messages of the current list that are not in it, by position there.
    pub left: Vec<(u64, Place<'a>)>,
    /// The engine memory of that time.
    pub engine: Option<EngineRow>,
}

/// Walks back to the wanted generation.
pub(super) fn walk<'a>(
    connection: &Connection,
    undo: &Undo<'a>,
) -> Result<Result<Back<'a>, UndoRejection>, ArchiveError> {
    let current = generation_of(connection, undo.session)?;
    let Some(key) = find_session_key(connection, undo.session)? else { return Ok(Err(UndoRejection::Nothing)) };
    let Some(list) = current_list(connection, key, undo.list)? else { return Ok(Err(UndoRejection::NoList)) };
    let (now, since) = (list.clone(), to_u64(list.len()));
    let left = Vec::new();
    let mut back = Back { key, current, restored: current, handles: Vec::new(), list, since, left, engine: None };
    loop {
        let is_there = match undo.to {
            None => !back.handles.is_empty(),
            Some(to) if to > current => return Ok(Err(not_there(to, current))),
            Some(to) if back.restored < to => return Ok(Err(was_undone(to, back.restored))),
            Some(to) => back.restored == to,
        };
        if is_there {
            let stays: HashSet<_> = back.list.iter().map(Place::key).collect();
            back.left = (0..).zip(now).filter(|(_, place)| !stays.contains(&place.key())).collect();
            return Ok(Ok(back));
        }
        if let Err(why) = back.step(connection, undo.session)? {
            return Ok(Err(why));
        }
    }
}

fn not_there(wanted: u64, current: u64) -> UndoRejection {
    UndoRejection::NotThere {
        wanted,
        words: format!("the session is at generation {current}, and an undo goes to an earlier one"),
    }
}

fn was_undone(wanted: u64, before: u64) -> UndoRejection {
    UndoRejection::NotThere { wanted, words: format!("it was undone, and the way back goes to {before} past it") }
}

/// Returns the caller's list, as rows of the transcript if it begins with them. Without a caller's list, returns the
/// transcript; `None` if there is neither.
fn current_list<'a>(
    connection: &Connection,
    key: i64,
    given: Option<&'a [&'a str]>,
) -> Result<Option<Vec<Place<'a>>>, ArchiveError> {
    let mut query = connection
        .prepare_cached("SELECT id, body FROM message WHERE session = ?1 AND compression IS NULL ORDER BY position")?;
    let mut rows = query.query([key])?;
    let mut list = Vec::new();
    let mut left = given.unwrap_or_default().iter().enumerate();
    while let Some(row) = rows.next()? {
        let is_same = match left.next() {
            Some((_, text)) => {
                let body = row.get_ref(1)?.as_str()?;
                body == *text || normal_message(body) == normal_message(text)
            }
            None => true,
        };
        if !is_same {
            // The list differs from the transcript, so only the caller has its messages.
            return Ok(given.map(|given| (0..).zip(given).map(|(at, text)| Place::Given(at, text)).collect()));
        }
        list.push(Place::Row(row.get(0)?));
    }
    list.extend(left.map(|(at, text)| Place::Given(at, text)));
    Ok((given.is_some() || !list.is_empty()).then_some(list))
}

/// The data that was noted with a compression.
struct Noted {
    pieces: String,
    length: u64,
    sha256: Vec<u8>,
    engine: Option<EngineRow>,
}

impl Back<'_> {
    /// Returns the generation that an undo makes.
    pub(super) const fn next(&self) -> u64 {
        self.current.saturating_add(1)
    }

    /// Goes back by one compression. At an undo, goes back to the generation that it restored.
    fn step(&mut self, connection: &Connection, session: &str) -> Result<Result<(), UndoRejection>, ArchiveError> {
        let found: Option<(String, Option<u64>)> = connection
            .prepare_cached("SELECT handle, back_to FROM compression WHERE session = ?1 AND generation = ?2")?
            .query_row(params![session, self.restored], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let handle = match found {
            None => return Ok(Err(UndoRejection::Nothing)),
            Some((_, Some(back_to))) if back_to < self.restored => {
                self.restored = back_to;
                return Ok(Ok(()));
            }
            Some((handle, _)) => handle,
        };
        let Some(noted) = noted(connection, &handle)? else {
            return Ok(Err(UndoRejection::NotKept { generation: self.restored }));
        };
        let mut bodies = Bodies::of(connection)?;
        let other = UndoRejection::OtherList { handle: handle.clone(), length: noted.length };
        let length = usize::try_from(noted.length).unwrap_or(usize::MAX);
        let Some((after, since)) = self.list.split_at_checked(length) else { return Ok(Err(other)) };
        let texts = after.iter().map(|place| bodies.text(*place)).collect::<Result<Vec<String>, _>>()?;
        let all = || texts.iter().map(String::as_str);
        // Earlier versions noted a digest that includes the fields that begin with `_`, and until version 15 of the
        // archive one of the exact bytes.
        if ![message_digest(all()), normal_digest(all()), digest(all())].contains(&noted.sha256) {
            return Ok(Err(other));
        }
        let Some(sources) = pieces::read(&noted.pieces, MESSAGES) else {
            return Err(ArchiveError::Damaged { words: format!("the list before {handle} can't be read") });
        };
        let mut known = connection.prepare_cached("SELECT 1 FROM message_row WHERE id = ?1 AND session = ?2")?;
        let mut list = Vec::with_capacity(sources.len() + since.len());
        let mut gone = 0;
        for source in sources {
            let place = match source {
                Source::Row(id) => known.exists([id, self.key])?.then_some(Place::Row(id)),
                Source::After(at) => usize::try_from(at).ok().and_then(|at| after.get(at)).copied(),
            };
            match place {
                Some(place) => list.push(place),
                None => gone += 1,
            }
        }
        if gone > 0 {
            return Ok(Err(UndoRejection::Gone { handle, messages: gone }));
        }
        self.since = to_u64(since.len());
        list.extend(since);
        self.list = list;
        self.restored -= 1;
        self.handles.push(handle);
        self.engine = noted.engine;
        Ok(Ok(()))
    }
}

fn noted(connection: &Connection, handle: &str) -> Result<Option<Noted>, ArchiveError> {
    let mut query = connection
        .prepare_cached("SELECT pieces, length, sha256, state, summary FROM list_before WHERE handle = ?1")?;
    let noted = query.query_row([handle], |row| {
        let (state, summary): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
        let engine = state.map(|state| EngineRow { state, summary });
        Ok(Noted { pieces: row.get(0)?, length: row.get(1)?, sha256: row.get(2)?, engine })
    });
    Ok(noted.optional()?)
}
