//! The state of a session's engine.

use herma_context::breaker::State as BreakerState;
use herma_protocol::context::{AuxFailure, Breaker, StatusResult};

use crate::data::numbers::to_u64;
use crate::service::context::Status;

/// Converts a status for an answer.
pub(super) fn wire(status: Status) -> StatusResult {
    let Status { settings, generation, engine, uses_main, breaker, wait_s, cooldown_s } = status;
    let budgets = settings.budgets();
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    StatusResult {
        engine: settings.engine.name().into(),
        model: settings.model.clone().unwrap_or_default(),
        context_length: settings.context_length,
        threshold: settings.threshold,
        threshold_tokens: budgets.threshold_tokens,
        target_ratio: settings.target_ratio,
        tail_token_budget: budgets.tail_token_budget,
        max_summary_tokens: budgets.max_summary_tokens,
        protect_first_n: to_u64(settings.protect_first_n),
        protect_last_n: to_u64(settings.protect_last_n),
        last_prompt_tokens: engine.last_prompt_tokens,
        last_completion_tokens: signed(engine.last_completion_tokens),
        last_total_tokens: signed(engine.last_total_tokens),
        last_real_prompt_tokens: signed(engine.last_real_prompt_tokens),
        usage_percent: engine.usage_percent(settings.context_length),
        compression_count: engine.compression_count,
        last_compression_rough_tokens: signed(engine.last_compression_rough_tokens),
        last_rough_tokens_when_real_prompt_fit: signed(engine.last_rough_tokens_when_real_prompt_fit),
        awaiting_real_usage: engine.awaiting_real_usage,
        generation,
        previous_summary: engine.previous_summary,
        summary_model: settings.summary_model.filter(|_| !uses_main),
        last_error: engine.last_error,
        dropped: to_u64(engine.dropped),
        fallback: engine.fallback,
        aborted: engine.aborted,
        aux_failure: engine.aux_failure.map(|failure| AuxFailure { model: failure.model, error: failure.error }),
        savings_pct: engine.savings_pct,
        ineffective_count: u64::from(engine.ineffective_count),
        cooldown_s,
        breaker: match breaker {
            BreakerState::Closed => Breaker::Closed,
            BreakerState::Open => Breaker::Open,
            BreakerState::HalfOpen => Breaker::HalfOpen,
        },
        wait_s,
    }
}
