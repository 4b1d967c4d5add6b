//! Nodes: what stands for parts of a conversation, as the archive has it and as an engine does.

use herma_archive::node::{KeptNode, Map, NodeRow, Stands};
use herma_context::lossless::{KnownNodes, NewNode, Node, Of};

use super::ArchiveHandle;
use crate::data::error::Outcome;
use crate::data::numbers::wide;

impl ArchiveHandle {
    /// The map of a session.
    pub(crate) async fn map(&self, session: String) -> Outcome<Map> {
        self.read(move |reader| reader.map(&session)).await
    }

    /// A node by its id.
    pub(crate) async fn node(&self, id: String) -> Outcome<Option<KeptNode>> {
        self.read(move |reader| reader.node(&id)).await
    }

    /// The node that stands in the place of another one now.
    pub(crate) async fn newest_node(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.newest(&id)).await
    }

    /// Keeps a node that stands in the place of an older one, known by its id and its text; false if that is not
    /// there any more.
    pub(crate) async fn save_rewritten(&self, older: (String, String), node: Node) -> Outcome<bool> {
        // What it stands for is that of the older one.
        let row = row(&NewNode { node, of: Of::Nodes(Vec::new()) });
        self.write(move |archive| archive.save_rewritten((&older.0, &older.1), &row)).await
    }

    /// For each message the leaf that stands for it, where there is one.
    pub(crate) async fn leaves_of(&self, messages: Vec<u64>) -> Outcome<Vec<Option<String>>> {
        self.read(move |reader| messages.into_iter().map(|message| reader.leaf_of(message)).collect()).await
    }
}

/// What an engine is told of a session's nodes; ids of new ones begin with the prefix.
pub(crate) fn known(map: Map, prefix: String) -> KnownNodes {
    let Map { nodes, next, left, since, times } = map;
    KnownNodes { prefix, next, nodes: nodes.into_iter().map(node).collect(), times, since, left }
}

/// A node as an engine knows it.
pub(crate) fn node(row: NodeRow) -> Node {
    let NodeRow {
        id, number, depth, first, next, since, until, tokens, writer, text, references, state, warnings, ..
    } = row;
    Node { id, number, depth, first, next, from: since, until, tokens, writer, text, references, state, warnings }
}

/// A new node as it is kept.
pub(super) fn row(new: &NewNode) -> NodeRow {
    let node = new.node.clone();
    NodeRow {
        of: match &new.of {
            Of::Messages(positions) => Stands::Messages(wide(positions.start)..wide(positions.end)),
            Of::Handle(handle) => Stands::Handle(handle.clone()),
            Of::Nodes(ids) => Stands::Nodes(ids.clone()),
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
