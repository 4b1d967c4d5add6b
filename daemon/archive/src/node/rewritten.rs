//! Rewritten nodes, and the nodes that they replace.

use rusqlite::{OptionalExtension, params};

use super::{NodeRow, json};
use crate::{Archive, ArchiveError, Reader};

impl Reader {
    /// Returns the newest node that replaces this one; the node itself if none does.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn newest(&self, id: &str) -> Result<String, ArchiveError> {
        let mut query =
            self.connection.prepare_cached("SELECT id FROM node WHERE replaces = ?1 ORDER BY number DESC LIMIT 1")?;
        let mut newest = id.to_owned();
        while let Some(newer) = query.query_row([&newest], |row| row.get::<_, String>(0)).optional()? {
            newest = newer;
        }
        Ok(newest)
    }
}

impl Archive {
    /// Saves a node that replaces an older one: it covers the same messages or nodes, and belongs to the same
    /// compression. Returns false if another node replaces the older one already. Returns false also if no node with
    /// the older id and text exists any more, because its session was removed.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn save_rewritten(&mut self, (older, text): (&str, &str), node: &NodeRow) -> Result<bool, ArchiveError> {
        let transaction = self.connection_mut().transaction()?;
        let added = transaction
            .prepare_cached(
                "INSERT INTO node (id, session, number, made_by, depth, first, next, since, until, tokens, writer, handle,
                                   start, stop, children, text, exact, state, warnings, replaces)
                 SELECT ?2, session, ?3, made_by, depth, first, next, since, until, tokens, ?4, handle,
                        start, stop, children, ?5, exact, state, ?6, id
                 FROM node AS older WHERE id = ?1 AND text = ?7 AND NOT EXISTS (SELECT 1 FROM node WHERE replaces = ?1)",
            )?
            .execute(params![older, node.id, node.number, node.writer, node.text, json(&node.warnings), text])?;
        transaction.commit()?;
        Ok(added > 0)
    }
}
