//! What an engine is told of the wishes of a session's agent.

use herma_archive::episode::EpisodeRow;
use herma_context::episodes::Episode;
use herma_context::wishes::Wishes;

use super::CompressionService;
use crate::data::error::Outcome;
use crate::service::session::Session;

impl CompressionService {
    /// The outputs that the agent is done with, its episodes, and what is pinned.
    pub(in crate::service) async fn wishes(&self, session: &Session) -> Outcome<Wishes> {
        let discards = self.archive.discards(session.id.clone()).await?;
        let episodes = self.archive.episodes(session.id.clone()).await?;
        Ok(Wishes {
            discards: discards.into_iter().filter_map(|row| Some((row.id.parse().ok()?, row.reason))).collect(),
            episodes: episodes.into_iter().filter_map(episode).collect(),
            pins: self.pinned(session).await?,
        })
    }
}

/// An episode as it is kept; none of another version.
pub(super) fn episode(row: EpisodeRow) -> Option<Episode> {
    let EpisodeRow { number, title, outcome, after, last, .. } = row;
    let after = after.as_deref().unwrap_or_default().parse().ok()?;
    Some(Episode { number, title, outcome, after, last: last.map(|last| last.parse()).transpose().ok()? })
}
