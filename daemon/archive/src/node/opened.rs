//! Nodes whose messages are in a session's list again, until the nodes are closed or the list changes.

use rusqlite::params;

use super::{KeptNode, Stands};
use crate::original::STAYED;
use crate::{Archive, ArchiveError, Reader, transcript};

/// A note that a node is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedRow {
    /// The node's id.
    pub node: String,
    /// The role of the list's message before the node's messages, if there is one.
    pub before: Option<String>,
    /// The role of the list's message after them, if there is one.
    pub behind: Option<String>,
}

/// An open node with its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedNode {
    /// The note.
    pub row: OpenedRow,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// The number of the message after its last one.
    pub next: u64,
    /// Its messages, as JSON texts.
    pub messages: Vec<String>,
    /// The places in the node of messages that don't directly follow the previous one in the conversation, because a
    /// message between them stayed in the list.
    pub gaps: Vec<usize>,
}

impl Reader {
    /// Returns the nodes that are open in a session's list of this generation, in the order of the conversation.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn opened(&self, session: &str, generation: u64) -> Result<Vec<OpenedNode>, ArchiveError> {
        // One read transaction, so that all queries see the same state.
        let _transaction = self.connection.unchecked_transaction()?;
        let query = "SELECT node, before, behind FROM opened WHERE session = ?1 AND generation = ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map(params![session, generation], |row| {
            Ok(OpenedRow { node: row.get(0)?, before: row.get(1)?, behind: row.get(2)? })
        })?;
        let mut opened = Vec::new();
        for row in rows {
            let row = row?;
            let Some(kept) = self.node(&row.node)? else { continue };
            let (messages, gaps) = (self.messages_of(&kept)?, self.gaps_of(&kept)?);
            opened.push(OpenedNode { row, first: kept.row.first, next: kept.row.next, messages, gaps });
        }
        opened.sort_by_key(|one| one.first);
        Ok(opened)
    }

    /// Returns the ids of the nodes that are open in a session's current list, in the order of the conversation.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn open_nodes(&self, session: &str) -> Result<Vec<String>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT opened.node FROM opened JOIN session ON session.id = opened.session JOIN node ON node.id = opened.node
             WHERE opened.session = ?1 AND opened.generation = session.generation ORDER BY node.first",
        )?;
        Ok(query.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns a node with its messages, if its compression counts and the node belongs to this session or to one that
    /// the session continues.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn node_messages(&self, session: &str, id: &str) -> Result<Option<(KeptNode, Vec<String>)>, ArchiveError> {
        let Some(kept) = self.node(id)?.filter(|kept| kept.undone.is_none()) else { return Ok(None) };
        if !self.lineage(session)?.contains(&kept.session) {
            return Ok(None);
        }
        let messages = self.messages_of(&kept)?;
        Ok(Some((kept, messages)))
    }

    /// Returns the places in a node of messages that don't directly follow the previous one in the conversation.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn gaps_of(&self, node: &KeptNode) -> Result<Vec<usize>, ArchiveError> {
        let places = self.places_of(node)?;
        let is_next = |one: &(String, u64), other: &(String, u64)| one.0 == other.0 && other.1 == one.1 + 1;
        let pairs = places.windows(2).enumerate().filter(|(_, pair)| !is_next(&pair[0], &pair[1]));
        Ok(pairs.map(|(at, _)| at + 1).collect())
    }

    /// Returns where the messages of a node were in the lists that they left: the compression's handle and the
    /// position.
    fn places_of(&self, node: &KeptNode) -> Result<Vec<(String, u64)>, ArchiveError> {
        let (handle, positions) = match &node.row.of {
            Stands::Messages(positions) => (&node.made_by, positions.clone()),
            Stands::Handle(handle) => (handle, 0..u64::MAX),
            Stands::Nodes(children) => {
                let mut all = Vec::new();
                for child in children {
                    if let Some(child) = self.node(child)? {
                        all.extend(self.places_of(&child)?);
                    }
                }
                return Ok(all);
            }
        };
        let mut query = self.connection.prepare_cached(&format!(
            "SELECT position FROM message WHERE compression = ?1 AND position >= ?2 AND position < ?3
             AND position NOT IN ({STAYED}) ORDER BY position, message.id"
        ))?;
        let end = positions.end.min(i64::MAX.unsigned_abs());
        let rows = query.query_map(params![handle, positions.start, end], |row| row.get(0))?;
        rows.map(|position| Ok((handle.clone(), position?))).collect()
    }

    /// Returns all messages that a node covers, as JSON texts. A message that stayed in the list in a shorter form is
    /// not among them: it belongs to another node.
    fn messages_of(&self, node: &KeptNode) -> Result<Vec<String>, ArchiveError> {
        let rows = match &node.row.of {
            Stands::Messages(positions) => self.gone_range(&node.made_by, positions.clone(), 0, usize::MAX)?,
            Stands::Handle(handle) => self.gone_range(handle, 0..u64::MAX, 0, usize::MAX)?,
            Stands::Nodes(children) => {
                let mut all = Vec::new();
                for child in children {
                    if let Some(child) = self.node(child)? {
                        all.extend(self.messages_of(&child)?);
                    }
                }
                return Ok(all);
            }
        };
        Ok(rows.into_iter().map(|message| message.body).collect())
    }
}

impl Archive {
    /// Notes that a node is open in the list of this generation. Deletes the notes about other generations.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn save_opened(&mut self, session: &str, generation: u64, row: &OpenedRow) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        transcript::generation_of(&transaction, session)?;
        transaction
            .prepare_cached("DELETE FROM opened WHERE session = ?1 AND generation <> ?2")?
            .execute(params![session, generation])?;
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO opened (session, node, generation, before, behind) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![session, row.node, generation, row.before, row.behind])?;
        Ok(transaction.commit()?)
    }

    /// Notes that these nodes are closed.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn remove_opened(&mut self, session: &str, nodes: &[String]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        {
            let mut query = transaction.prepare_cached("DELETE FROM opened WHERE session = ?1 AND node = ?2")?;
            for node in nodes {
                query.execute([session, node])?;
            }
        }
        Ok(transaction.commit()?)
    }
}
