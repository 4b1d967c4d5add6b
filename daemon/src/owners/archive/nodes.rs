//! Nodes: texts that replace parts of a conversation, converted between the archive's and the engine's form.

use herma_archive::node::{KeptNode, Map, NodeRow, Stands};
use herma_context::lossless::{Coverage, NewNode, Node, SessionNodes};

use super::ArchiveHandle;
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;

impl ArchiveHandle {
    /// Returns the map of a session.
    pub(crate) async fn map(&self, session: String) -> Outcome<Map> {
        self.read(move |reader| reader.map(&session)).await
    }

    /// Returns the node with this id.
    pub(crate) async fn node(&self, id: String) -> Outcome<Option<KeptNode>> {
        self.read(move |reader| reader.node(&id)).await
    }

    /// Returns the id of the newest node that replaces this one.
    pub(crate) async fn newest_node(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.newest(&id)).await
    }

    /// Stores a node that replaces an older one, given by its id and its text. Returns false if the older one no longer
    /// exists.
    pub(crate) async fn save_rewritten(&self, older: (String, String), node: Node) -> Outcome<bool> {
        // The new node covers the same messages as the older one.
        let row = row(&NewNode { node, of: Coverage::Nodes(Vec::new()) });
        self.write(move |archive| archive.save_rewritten((&older.0, &older.1), &row)).await
    }

    /// Returns the leaf that covers each message, if there is one.
    pub(crate) async fn leaves_of(&self, messages: Vec<u64>) -> Outcome<Vec<Option<String>>> {
        self.read(move |reader| messages.into_iter().map(|message| reader.leaf_of(message)).collect()).await
    }
}

/// Returns an engine's view of a session's nodes. The ids of new nodes begin with the prefix.
pub(crate) fn known(map: Map, prefix: String) -> SessionNodes {
    let Map { nodes, next, left, since, times } = map;
    SessionNodes { prefix, next, nodes: nodes.into_iter().map(node).collect(), times, since, left }
}

/// Converts a row into the engine's form of a node.
pub(crate) fn node(row: NodeRow) -> Node {
    let NodeRow {
        id, number, depth, first, next, since, until, tokens, writer, text, references, state, warnings, ..
    } = row;
    Node { id, number, depth, first, next, from: since, until, tokens, writer, text, references, state, warnings }
}

/// Converts a new node into a row.
pub(super) fn row(new: &NewNode) -> NodeRow {
    let node = new.node.clone();
    NodeRow {
        of: match &new.of {
            Coverage::Messages(positions) => Stands::Messages(to_u64(positions.start)..to_u64(positions.end)),
            Coverage::Handle(handle) => Stands::Handle(handle.clone()),
            Coverage::Nodes(ids) => Stands::Nodes(ids.clone()),
        },
        id: node.id,
        number: node.number,
        depth: node.depth,
        first: node.first,
        next: node.next,
        since: node.from,
        until: node.until,
        tokens: node.tokens,
        writer: node.writer,
        text: node.text,
        references: node.references,
        state: node.state,
        warnings: node.warnings,
    }
}
