//! The nodes that are open in the lists of sessions.

use herma_archive::node::KeptNode;
use herma_archive::node::opened::{OpenedNode, OpenedRow};

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// The nodes that are open in a session's list; none without an archive.
    pub(crate) async fn opened(&self, session: String, generation: u64) -> Outcome<Vec<OpenedNode>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.opened(&session, generation)).await
    }

    /// The nodes that are open in a session's list as it is.
    pub(crate) async fn open_nodes(&self, session: String) -> Outcome<Vec<String>> {
        self.read(move |reader| reader.open_nodes(&session)).await
    }

    /// A node of a session that counts, with the messages that it stands for.
    pub(crate) async fn node_messages(&self, session: String, id: String) -> Outcome<Option<(KeptNode, Vec<String>)>> {
        self.read(move |reader| reader.node_messages(&session, &id)).await
    }

    /// Which messages of a node don't follow the one before in the conversation.
    pub(crate) async fn node_gaps(&self, node: KeptNode) -> Outcome<Vec<usize>> {
        self.read(move |reader| reader.gaps_of(&node)).await
    }

    /// Notes that a node is open.
    pub(crate) async fn add_opened(&self, session: String, generation: u64, row: OpenedRow) -> Outcome<()> {
        self.write(move |archive| archive.save_opened(&session, generation, &row)).await
    }

    /// Notes that nodes are closed.
    pub(crate) async fn remove_opened(&self, session: String, nodes: Vec<String>) -> Outcome<()> {
        self.write(move |archive| archive.remove_opened(&session, &nodes)).await
    }
}
