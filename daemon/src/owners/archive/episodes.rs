//! The episodes of sessions, which are their sub-tasks.

use herma_archive::episode::EpisodeRow;

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the episodes of a session, oldest first; none without an archive.
    pub(crate) async fn episodes(&self, session: String) -> Outcome<Vec<EpisodeRow>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.episodes(&session)).await
    }

    /// Opens an episode. Returns false if one with this title is already open.
    pub(crate) async fn open_episode(&self, session: String, row: EpisodeRow) -> Outcome<bool> {
        self.write(move |archive| archive.open_episode(&session, &row)).await
    }

    /// Closes the open episode with a title; `None` if there is none.
    pub(crate) async fn close_episode(
        &self,
        session: String,
        title: String,
        outcome: Option<String>,
        last: String,
    ) -> Outcome<Option<EpisodeRow>> {
        self.write(move |archive| archive.close_episode(&session, &title, outcome.as_deref(), &last)).await
    }
}
