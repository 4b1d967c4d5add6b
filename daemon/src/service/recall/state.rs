//! The topics of a session, read from its archived messages on request. So nothing can become stale, or remain after
//! the session is removed.

use herma_archive::handle::Source;
use herma_context::Message;
use herma_context::work::{Entity, WorkState};

use super::{RecallService, SEARCHING};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;

/// The size of the newest messages that are read, in bytes.
const BYTES: usize = 32 << 20;

/// The largest size of an answer, in bytes.
const ANSWER_BYTES: usize = 2 << 20;

/// A query for a session's state.
#[derive(Debug)]
pub(crate) struct StateQuery {
    pub session: String,
    /// Limits the result to entities with this name, or with it in their name or kind.
    pub entity: Option<String>,
    /// The largest number of entities.
    pub limit: usize,
}

/// The topics of a session.
#[derive(Debug)]
pub(crate) struct SessionTopics {
    /// The entities, those most needed first.
    pub entities: Vec<Entity>,
    /// Whether there are more.
    pub more: bool,
    /// The message id at each position.
    ids: Vec<u64>,
}

impl SessionTopics {
    /// Returns the handle of the message at a position.
    pub(crate) fn handle(&self, position: u64) -> String {
        let id = usize::try_from(position).ok().and_then(|at| self.ids.get(at)).copied().unwrap_or_default();
        Source::Message { id }.handle()
    }
}

impl RecallService {
    /// Returns the state of a session's work, as far as its messages are in the archive.
    pub(crate) async fn state(&self, caller: &Caller, query: StateQuery) -> Outcome<SessionTopics> {
        let turn = SEARCHING.acquire().await.map_err(|_| Error::internal("recall.state"))?;
        let session = self.sessions.known(caller, &query.session).await?;
        let bodies = self.archive.newest_bodies(session, BYTES).await?;
        // The turn ends with the work, even if the caller no longer waits.
        let work = move || {
            let _turn = turn;
            Ok(stated(bodies, &query))
        };
        blocking("recall.state", work).await
    }
}

fn stated(bodies: Vec<(u64, String)>, query: &StateQuery) -> SessionTopics {
    let parsed = bodies.into_iter().filter_map(|(id, body)| Some((id, Message::parse(body).ok()?)));
    let (ids, messages): (Vec<u64>, Vec<Message>) = parsed.unzip();
    let state = WorkState::read(&messages, WorkState::default());
    let ranked = state.ranked();
    let chosen: Vec<&Entity> = match &query.entity {
        None => ranked.into_iter().filter(|entity| entity.has_name()).collect(),
        Some(name) => {
            let exact: Vec<&Entity> = ranked.iter().copied().filter(|entity| entity.id == *name).collect();
            let wanted = name.to_lowercase();
            let has = |text: &str| text.to_lowercase().contains(&wanted);
            if exact.is_empty() {
                ranked.into_iter().filter(|entity| has(&entity.id) || has(&entity.kind)).collect()
            } else {
                exact
            }
        }
    };
    let mut left = ANSWER_BYTES;
    let size = |entity: &Entity| {
        entity.id.len() + entity.attributes.iter().map(|known| known.name.len() + known.value.len()).sum::<usize>()
    };
    let fits = |entity: &&&Entity| {
        left = left.saturating_sub(size(entity));
        left > 0
    };
    let entities: Vec<Entity> = chosen.iter().take(query.limit).take_while(fits).copied().cloned().collect();
    SessionTopics { more: chosen.len() > entities.len(), entities, ids }
}

#[cfg(test)]
mod tests {
    use herma_archive::message::STATE_HEADING;
    use herma_context::handoff::SectionKind;

    #[test]
    fn the_archive_knows_the_section() {
        assert_eq!(SectionKind::State.heading(), STATE_HEADING);
    }
}
