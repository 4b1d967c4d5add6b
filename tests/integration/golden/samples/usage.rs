//! The sample of `context.record_usage`.

use herma_protocol::context::usage::{Buckets, RecordUsageParams, RecordUsageResult};
use herma_protocol::{Reply, Request};

use super::json;

pub(super) fn record() -> (Request, Reply) {
    let params = RecordUsageParams {
        session: Some("s-1".into()),
        usage: Some(json(r#"{"input_tokens": 1000,"output_tokens":500, "cost": 1.0}"#)),
        provider: Some("anthropic".into()),
        api_mode: Some("anthropic_messages".into()),
        model: Some("m-large".into()),
    };
    let result = RecordUsageResult {
        usage: Buckets {
            input: 1000,
            output: 500,
            cache_read: 70_000,
            cache_write: 400,
            reasoning: 250,
            request_count: 1,
            prompt: 71_400,
            total: 71_900,
        },
        should_compress: Some(true),
        pressure: Some(0.75),
        warning: Some("the window is nearly full".into()),
    };
    (Request::ContextRecordUsage(params), Reply::ContextRecordUsage(result))
}
