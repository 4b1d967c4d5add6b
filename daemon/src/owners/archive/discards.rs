//! The outputs that the agents of sessions have discarded.

use herma_archive::discard::DiscardRow;

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the discarded outputs of a session; none without an archive.
    pub(crate) async fn discards(&self, session: String) -> Outcome<Vec<DiscardRow>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.discards(&session)).await
    }

    /// Stores that the agent is done with these outputs.
    pub(crate) async fn add_discards(&self, session: String, rows: Vec<DiscardRow>) -> Outcome<()> {
        self.write(move |archive| archive.save_discards(&session, &rows)).await
    }
}
