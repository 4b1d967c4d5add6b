//! `context.compact_ahead`.

use herma_protocol::context::{CompactAheadParams, CompactAheadResult, JobState};

use super::focus;
use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::service::compression::Stage;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn compact_ahead(
    services: &Services,
    caller: &Caller,
    params: CompactAheadParams,
) -> Outcome<CompactAheadResult> {
    let session = services.sessions.ensure(caller, &params.session).await?;
    Ok(match services.compression.compact_ahead(&session, focus(params.focus)).await? {
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
