//! `context.classify_error`.

use herma_context::provider_error::{Classified, Kind};
use herma_protocol::context::provider_error::{ClassifyErrorParams, ClassifyErrorResult, ErrorClass};

use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn classify_error(
    services: &Services,
    caller: &Caller,
    params: ClassifyErrorParams,
) -> Outcome<ClassifyErrorResult> {
    let ClassifyErrorParams { session, text, status, current } = params;
    services.context.classify_error(caller, session.as_deref(), text, status, current).await.map(wire)
}

fn wire(found: Classified) -> ClassifyErrorResult {
    ClassifyErrorResult {
        kind: match found.kind {
            Kind::InputTooLong => ErrorClass::InputTooLong,
            Kind::OutputCap => ErrorClass::OutputCap,
            Kind::Other => ErrorClass::Other,
        },
        context_limit: found.context_limit,
        lower_limit: found.lower_limit,
        available_output: found.available_output,
        next_tier: found.next_tier,
    }
}
