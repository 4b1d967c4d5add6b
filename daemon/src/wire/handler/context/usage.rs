//! `context.record_usage`.

use herma_context::usage::Usage;
use herma_protocol::context::usage::{Buckets, RecordUsageParams, RecordUsageResult};

use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::service::context::Reported;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn record_usage(
    services: &Services,
    caller: &Caller,
    params: RecordUsageParams,
) -> Outcome<RecordUsageResult> {
    let reported = Reported {
        session: params.session,
        usage: params.usage.as_ref().and_then(|usage| serde_json::from_str(usage.get()).ok()).unwrap_or_default(),
        provider: params.provider,
        api_mode: params.api_mode,
        model: params.model,
    };
    let recorded = services.context.record_usage(caller, reported).await?;
    Ok(RecordUsageResult {
        usage: buckets(&recorded.usage),
        should_compress: recorded.should_compress,
        pressure: recorded.pressure,
        warning: recorded.warning,
    })
}

fn buckets(used: &Usage) -> Buckets {
    Buckets {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        reasoning: used.reasoning,
        request_count: used.request_count,
        prompt: used.prompt(),
        total: used.total(),
    }
}
