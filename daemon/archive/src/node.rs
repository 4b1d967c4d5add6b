//! Nodes: summaries of parts of a conversation that left its list, and summaries of several such nodes.
//!
//! A node never changes. It counts as long as the compression that made it is not undone. The nodes that no other node
//! covers are the session's map.

pub mod opened;
pub mod rewritten;

use std::collections::HashSet;
use std::ops::Range;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::{ArchiveError, Reader};

/// A stored node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRow {
    /// Its id.
    pub id: String,
    /// Its number in its session.
    pub number: u64,
    /// 0 for a leaf; otherwise one more than the depth of the nodes that it covers.
    pub depth: u32,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// The number of the message after its last one.
    pub next: u64,
    /// When its first message was said, in Unix seconds.
    pub since: f64,
    /// When its last message was said, in Unix seconds.
    pub until: f64,
    /// Tokens of its messages.
    pub tokens: u64,
    /// Who wrote its text.
    pub writer: String,
    /// What it covers.
    pub of: Stands,
    /// Its text.
    pub text: String,
    /// Exact references from its messages.
    pub references: String,
    /// The state of the work at its end.
    pub state: String,
    /// The warnings of the checks on its text.
    pub warnings: Vec<String>,
}

/// What a node covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// Messages that the compression that made the node removed, from these positions of the list before it.
    Messages(Range<u64>),
    /// All messages that left the list under a handle.
    Handle(String),
    /// Nodes, the oldest first.
    Nodes(Vec<String>),
}

/// A node with its session and its compression.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptNode {
    /// The node.
    pub row: NodeRow,
    /// Its session.
    pub session: String,
    /// That session's profile.
    pub profile: String,
    /// The compression that made it.
    pub made_by: String,
    /// The generation of the undo that reverted that compression, if one did.
    pub undone: Option<u64>,
}

/// The map of a session, and the data that new nodes need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    /// The nodes that no other node covers, the oldest first: those of the session and of the sessions that it
    /// continues.
    pub nodes: Vec<NodeRow>,
    /// The number of the session's next node.
    pub next: u64,
    /// How many messages have left the list so far.
    pub left: u64,
    /// When the list last changed, in Unix seconds. If it never did, when the session began.
    pub since: f64,
    /// When each message of the transcript was added, by position, in Unix seconds.
    pub times: Vec<f64>,
}

/// Saves the nodes that a compression made.
pub(crate) fn save(
    transaction: &Transaction<'_>,
    session: &str,
    made_by: &str,
    nodes: &[NodeRow],
) -> Result<(), ArchiveError> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO node (id, session, number, made_by, depth, first, next, since, until, tokens, writer, handle,
                           start, stop, children, text, exact, state, warnings)
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)",
    )?;
    for node in nodes {
        let (handle, positions, children) = match &node.of {
            Stands::Messages(positions) => (Some(made_by), Some(positions), None),
            Stands::Handle(handle) => (Some(handle.as_str()), None, None),
            Stands::Nodes(children) => (None, None, Some(json(children))),
        };
        insert.execute(params![
            node.id,
            session,
            node.number,
            made_by,
            node.depth,
            node.first,
            node.next,
            node.since,
            node.until,
            node.tokens,
            node.writer,
            handle,
            positions.map(|positions| positions.start),
            positions.map(|positions| positions.end),
            children,
            node.text,
            node.references,
            node.state,
            json(&node.warnings),
        ])?;
    }
    Ok(())
}

const NODE: &str =
    "SELECT node.id, node.number, node.depth, node.first, node.next, node.since, node.until, node.tokens,
     node.writer, node.handle, node.start, node.stop, node.children, node.text, node.exact, node.state, node.warnings,
     node.session, session.profile, node.made_by, compression.undone
     FROM node JOIN session ON session.id = node.session JOIN compression ON compression.handle = node.made_by";

fn kept(row: &Row<'_>) -> rusqlite::Result<KeptNode> {
    let children: Option<String> = row.get(12)?;
    let positions: Option<u64> = row.get(10)?;
    let of = match (children, positions) {
        (Some(children), _) => Stands::Nodes(list(&children)),
        (None, Some(start)) => Stands::Messages(start..row.get(11)?),
        (None, None) => Stands::Handle(row.get(9)?),
    };
    Ok(KeptNode {
        row: NodeRow {
            id: row.get(0)?,
            number: row.get(1)?,
            depth: row.get(2)?,
            first: row.get(3)?,
            next: row.get(4)?,
            since: row.get(5)?,
            until: row.get(6)?,
            tokens: row.get(7)?,
            writer: row.get(8)?,
            of,
            text: row.get(13)?,
            references: row.get(14)?,
            state: row.get(15)?,
            warnings: list(&row.get::<_, String>(16)?),
        },
        session: row.get(17)?,
        profile: row.get(18)?,
        made_by: row.get(19)?,
        undone: row.get(20)?,
    })
}

/// Selects the nodes of a session that count, with columns that one index has.
const COUNTED: &str = "SELECT node.id, node.children, node.replaces FROM node
     JOIN compression ON compression.handle = node.made_by
     WHERE node.session = ?1 AND compression.undone IS NULL ORDER BY node.rowid";

impl Reader {
    /// Returns the map of a session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn map(&self, session: &str) -> Result<Map, ArchiveError> {
        // One read transaction, so that all queries see the same state.
        let transaction = self.connection.unchecked_transaction()?;
        let mut map = Map { nodes: self.frontier(session)?, ..Map::default() };
        let query = "SELECT coalesce(max(number) + 1, 0) FROM node WHERE session = ?1 AND replaces IS NULL";
        map.next = transaction.prepare_cached(query)?.query_row([session], |row| row.get(0))?;
        let query = "SELECT started_at FROM session WHERE id = ?1";
        map.since =
            transaction.prepare_cached(query)?.query_row([session], |row| row.get(0)).optional()?.unwrap_or(0.0);
        for session in &self.lineage(session)? {
            let query = "SELECT coalesce(sum(messages), 0), max(time) FROM compression
                         WHERE session = ?1 AND undone IS NULL AND back_to IS NULL";
            let (left, time): (u64, Option<f64>) =
                transaction.prepare_cached(query)?.query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
            map.left += left;
            map.since = map.since.max(time.unwrap_or(0.0));
        }
        let mut times = transaction.prepare_cached(
            "SELECT time FROM message_row WHERE session = (SELECT key FROM session_key WHERE id = ?1)
             AND compression IS NULL ORDER BY position",
        )?;
        map.times = times.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(map)
    }

    /// Returns the node of this id. If a child was rewritten, its newest version is named.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn node(&self, id: &str) -> Result<Option<KeptNode>, ArchiveError> {
        let query = format!("{NODE} WHERE node.id = ?1");
        let mut found = self.connection.prepare_cached(&query)?.query_row([id], kept).optional()?;
        if let Some(KeptNode { row: NodeRow { of: Stands::Nodes(children), .. }, .. }) = &mut found {
            for child in children {
                *child = self.newest(child)?;
            }
        }
        Ok(found)
    }

    /// Returns the leaf that covers an archived message, if one that counts does.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn leaf_of(&self, message: u64) -> Result<Option<String>, ArchiveError> {
        let Ok(message) = i64::try_from(message) else { return Ok(None) };
        let query = "SELECT node.id FROM message_row AS row
             JOIN node ON node.handle = row.compression
             JOIN compression ON compression.handle = node.made_by
             WHERE row.id = ?1 AND compression.undone IS NULL
             AND (node.start IS NULL OR (row.position >= node.start AND row.position < node.stop))
             ORDER BY node.number DESC LIMIT 1";
        Ok(self.connection.prepare_cached(query)?.query_row([message], |row| row.get(0)).optional()?)
    }

    /// Returns the nodes that no other node covers, the oldest first. Of covered nodes it reads only the ids.
    fn frontier(&self, session: &str) -> Result<Vec<NodeRow>, ArchiveError> {
        let mut query = self.connection.prepare_cached(COUNTED)?;
        let (mut all, mut covered) = (Vec::<String>::new(), HashSet::<String>::new());
        let mut replaced: Vec<(String, String)> = Vec::new();
        for session in &self.lineage(session)? {
            let mut rows = query.query([session])?;
            while let Some(row) = rows.next()? {
                all.push(row.get(0)?);
                if let Some(older) = row.get(2)? {
                    replaced.push((row.get(0)?, older));
                }
                covered.extend(list(&row.get::<_, Option<String>>(1)?.unwrap_or_default()));
            }
        }
        // A rewritten node replaces an older one. A node that covers the older one covers the rewritten one too.
        for (newer, older) in replaced {
            if covered.contains(&older) {
                covered.insert(newer);
            }
            covered.insert(older);
        }
        let mut nodes = Vec::new();
        for id in all.iter().filter(|id| !covered.contains(*id)) {
            nodes.extend(self.node(id)?.map(|kept| kept.row));
        }
        nodes.sort_by_key(|node| (node.first, node.next, node.number));
        Ok(nodes)
    }
}

fn json(list: &[String]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".into())
}

fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
