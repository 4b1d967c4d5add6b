//! What an engine is told of the wishes of a session's agent.

use herma_context::episodes::Episode;
use herma_context::wishes::Wishes;

use super::CompressionService;
use crate::data::error::Outcome;
use crate::service::session::Session;

impl CompressionService {
    /// The outputs that the agent is done with, the episodes that it closed, and what is pinned.
    pub(in crate::service) async fn wishes(&self, session: &Session) -> Outcome<Wishes> {
        let discards = self.archive.discards(session.id.clone()).await?;
        let episodes = self.archive.episodes(session.id.clone()).await?;
        let closed = episodes.into_iter().filter_map(|row| {
            let after = row.after.map(|after| after.parse()).transpose().ok()?;
            Some(Episode { title: row.title, outcome: row.outcome, after, last: row.last?.parse().ok()? })
        });
        Ok(Wishes {
            discards: discards.into_iter().filter_map(|row| Some((row.id.parse().ok()?, row.reason))).collect(),
            episodes: closed.collect(),
            pins: self.pinned(session).await?,
        })
    }
}
