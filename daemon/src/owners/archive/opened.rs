//! The nodes that are open in the lists of sessions.

use herma_archive::node::KeptNode;
use herma_archive::node::opened::{OpenedNode, OpenedRow};

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the nodes that are open in a session's list; none without an archive.
    pub(crate) async fn opened(&self, session: String, generation: u64) -> Outcome<Vec<OpenedNode>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.opened(&session, generation)).await
    }

    /// Returns the ids of the nodes that are open in a session's current list.
    pub(crate) async fn open_nodes(&self, session: String) -> Outcome<Vec<String>> {
        self.read(move |reader| reader.open_nodes(&session)).await
    }

    /// Returns a current node of a session, with the messages that it covers.
    pub(crate) async fn node_messages(&self, session: String, id: String) -> Outcome<Option<(KeptNode, Vec<String>)>> {
        self.read(move |reader| reader.node_messages(&session, &id)).await
    }

    /// Returns the messages of a node that do not directly follow their predecessor in the conversation.
    pub(crate) async fn node_gaps(&self, node: KeptNode) -> Outcome<Vec<usize>> {
        self.read(move |reader| reader.gaps_of(&node)).await
    }

    /// Stores that a node is open.
    pub(crate) async fn add_opened(&self, session: String, generation: u64, row: OpenedRow) -> Outcome<()> {
        self.write(move |archive| archive.save_opened(&session, generation, &row)).await
    }

    /// Stores that nodes are closed.
    pub(crate) async fn remove_opened(&self, session: String, nodes: Vec<String>) -> Outcome<()> {
        self.write(move |archive| archive.remove_opened(&session, &nodes)).await
    }
}
