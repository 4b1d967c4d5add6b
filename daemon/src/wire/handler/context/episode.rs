//! `context.episode`.

use herma_protocol::context::episode::{EpisodeAction, EpisodeParams, EpisodeResult};

use super::list;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;
use crate::service::compression::{Done, EpisodeStep};
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn episode(
    services: &Services,
    caller: &Caller,
    params: EpisodeParams,
) -> Outcome<EpisodeResult> {
    let EpisodeParams { session, action, title, outcome, messages } = params;
    let done = match (action, outcome) {
        (EpisodeAction::Close, outcome) => Some(Done { outcome }),
        (EpisodeAction::Open, None) => None,
        (EpisodeAction::Open, Some(_)) => {
            return Err(Error::param("outcome", "an episode has an outcome once it is closed"));
        }
    };
    let session = services.sessions.ensure(caller, &session).await?;
    let step = EpisodeStep { title, done, messages: list::read_some(messages).await?.map(|read| read.messages) };
    let state = services.compression.episode(&session, step).await?;
    Ok(EpisodeResult { title: state.title, messages: to_u64(state.messages), tokens: state.tokens, open: state.open })
}
