//! The messages around a hit. Two messages next to each other are one place, so only the better one of them is a hit.

use std::collections::HashSet;

use rusqlite::{Connection, Row, params};

use crate::ArchiveError;
use crate::browse::narrow;
use crate::message::searched;

/// How many messages without words are skipped on a side at most, for each that has some.
const SKIPPED: usize = 4;

/// A message next to a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearby {
    /// Its id.
    pub id: u64,
    /// Its role, if it has one.
    pub role: Option<String>,
    /// Its text. A handoff has none, and is left out.
    pub text: String,
}

/// The messages around a hit, in the order of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Those before it.
    pub before: Vec<Nearby>,
    /// Those after it.
    pub after: Vec<Nearby>,
}

/// The places of the hits so far.
pub(super) struct Places<'a> {
    connection: &'a Connection,
    /// How many messages each place has on each side of its hit.
    around: usize,
    covered: HashSet<u64>,
}

impl<'a> Places<'a> {
    pub(super) fn new(connection: &'a Connection, around: usize) -> Self {
        Self { connection, around, covered: HashSet::new() }
    }

    /// Whether a message is in one of the places.
    pub(super) fn has(&self, id: u64) -> bool {
        self.covered.contains(&id)
    }

    /// Adds the place of a message, and returns the messages around it.
    pub(super) fn add(&mut self, id: u64) -> Result<Surroundings, ArchiveError> {
        if self.around == 0 {
            return Ok(Surroundings::default());
        }
        let mut before = self.side("id < ?1 ORDER BY id DESC", id)?;
        before.reverse();
        let after = self.side("id > ?1 ORDER BY id", id)?;
        self.covered.extend(before.iter().chain(&after).map(|message| message.id).chain([id]));
        Ok(Surroundings { before, after })
    }

    /// Returns the messages on one side. What no search finds is not shown next to a hit either.
    fn side(&self, which: &str, id: u64) -> Result<Vec<Nearby>, ArchiveError> {
        let query = format!(
            "SELECT id, role, body FROM message WHERE session = (SELECT session FROM message WHERE id = ?1)
             AND recalled = 0 AND role <> 'system' AND {which} LIMIT ?2"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![id, narrow(self.around * SKIPPED)], nearby)?;
        let mut found = Vec::with_capacity(self.around);
        for message in rows {
            let message = message?;
            if !message.text.is_empty() {
                found.push(message);
            }
            if found.len() == self.around {
                break;
            }
        }
        Ok(found)
    }
}

fn nearby(row: &Row<'_>) -> rusqlite::Result<Nearby> {
    let role: String = row.get(1)?;
    let text = searched(row.get_ref(2)?.as_str()?);
    Ok(Nearby { id: row.get(0)?, role: (!role.is_empty()).then_some(role), text })
}
