//! `context.compact_ahead`.

use std::time::Instant;

use herma_context::Gain;
use herma_protocol::context::{CompactAheadParams, CompactAheadResult, JobState, ReplyForm};

use super::{Shared, request, session_settings};
use crate::data::error::Outcome;
use crate::service::compression::ahead::{self, Stage};
use crate::service::compression::chain::Chain;
use crate::service::compression::job::Wish;
use crate::service::compression::rules;
use crate::wire::caller::Caller;
use crate::wire::handler::session;

pub(in crate::wire::handler) async fn compact_ahead(
    state: &Shared,
    caller: &Caller,
    params: CompactAheadParams,
) -> Outcome<CompactAheadResult> {
    let mut request = request(params.focus, None, None, Gain::Required)?;
    let session = session::ensure(state, caller, &params.session).await?;
    let settings = session_settings(&session, &state.config)?;
    request.constraints = rules::load(state, &session).await?;
    let chain = Chain::new(state, &session, None);
    let mode = state.config.context.mode;
    let wish = Wish { request, chain, mode, form: ReplyForm::Messages, started: Instant::now() };
    Ok(match ahead::begin(state, &session, settings, wish).await? {
        None => CompactAheadResult { job: String::new(), state: JobState::Nothing },
        Some((job, stage)) => CompactAheadResult {
            job,
            state: match stage {
                Stage::Started => JobState::Started,
                Stage::Running => JobState::Running,
                Stage::Ready => JobState::Ready,
            },
        },
    })
}
