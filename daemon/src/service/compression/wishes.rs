//! Passes the wishes of a session's agent to the engine.

use herma_archive::episode::EpisodeRow;
use herma_context::episodes::Episode;
use herma_context::wishes::MessageRequests;

use super::CompressionService;
use crate::data::error::Outcome;
use crate::service::session::Session;

impl CompressionService {
    /// Returns the discarded outputs, the episodes and the pins of a session.
    pub(in crate::service) async fn wishes(&self, session: &Session) -> Outcome<MessageRequests> {
        let discards = self.archive.discards(session.id.clone()).await?;
        let episodes = self.archive.episodes(session.id.clone()).await?;
        Ok(MessageRequests {
            discards: discards.into_iter().filter_map(|row| Some((row.id.parse().ok()?, row.reason))).collect(),
            episodes: episodes.into_iter().filter_map(episode).collect(),
            pins: self.pinned(session).await?,
        })
    }
}

/// Converts a row into an episode; `None` for a row of an unknown version.
pub(super) fn episode(row: EpisodeRow) -> Option<Episode> {
    let EpisodeRow { number, title, outcome, after, last, .. } = row;
    let after = after.as_deref().unwrap_or_default().parse().ok()?;
    Some(Episode { number, title, outcome, after, last: last.map(|last| last.parse()).transpose().ok()? })
}
