//! Decides whether a session should be compressed now, before its next call.

use herma_context::Settings;
use herma_context::breaker::{Breaker, Limits, State, Verdict};
use herma_context::pressure;

use crate::data::config::ContextConfig;
use crate::data::summarizer_kind::Kind;
use crate::service::engine_record::EngineRecord;

/// The share of the window from which on waiting would overflow it.
const OVERFLOWING: f64 = 0.95;

/// The size of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// The exact size, from the caller or from the provider's last answer.
    Counted(u64),
    /// An estimate; there is no exact count yet.
    Estimated {
        /// The estimate by script, corrected.
        tokens: u64,
        /// The estimate by chars, as after a compression.
        rough: u64,
        /// Whether a compression would change anything.
        has_content: bool,
        /// The number of messages of the list.
        messages: usize,
    },
    /// The size is unknown.
    Unknown,
}

/// A decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Due {
    /// Whether to compress.
    pub compress: bool,
    /// The reason for the decision.
    pub reason: Reason,
    /// Whether an estimate is over the threshold, so that the client may wait for the provider's own count.
    pub defer: bool,
    /// The tokens that were compared with the threshold.
    pub tokens: u64,
    /// The threshold.
    pub threshold: u64,
    /// The tokens as a fraction of the window.
    pub pressure: f64,
    /// Seconds until a compression is allowed.
    pub wait_s: f64,
}

/// The reason for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    BelowThreshold,
    OverThreshold,
    BreakerOpen,
    RateLimited,
    Cooldown,
    NothingToCompress,
    Disabled,
}

/// Decides. First come the reasons that need no compression at all, then those of [`held_back`], in its order.
pub(crate) fn due(
    config: &ContextConfig,
    settings: &Settings,
    chain: &[Kind],
    kept: &mut EngineRecord,
    prompt: Prompt,
    now: f64,
) -> Due {
    let threshold = settings.budgets().threshold_tokens;
    let (tokens, rough, has_content, messages) = match prompt {
        Prompt::Counted(tokens) => (tokens, tokens, true, 0),
        Prompt::Estimated { tokens, rough, has_content, messages } => (tokens, rough, has_content, messages),
        Prompt::Unknown => (0, 0, true, 0),
    };
    let most = config.hygiene_messages;
    let is_long = || most > 0 && pressure::hygiene(tokens, messages, settings.context_length, most).is_some();
    let is_over = prompt != Prompt::Unknown && (tokens >= threshold || is_long());
    let gains = matches!(prompt, Prompt::Estimated { has_content: true, .. });
    let held = held_back(config, settings, chain, kept, tokens, gains, now);
    let (reason, wait_s) = match held {
        Some((Reason::Disabled, _)) => (Reason::Disabled, 0.0),
        _ if !is_over => (Reason::BelowThreshold, 0.0),
        _ if !has_content => (Reason::NothingToCompress, 0.0),
        Some(held) => held,
        None => (Reason::OverThreshold, 0.0),
    };
    let is_due = reason == Reason::OverThreshold;
    let defer = is_due && kept.engine.defer_preflight(rough, threshold);
    let pressure = pressure::pressure(tokens, settings.context_length);
    Due { compress: is_due && !defer, reason, defer, tokens, threshold, pressure, wait_s }
}

/// Returns why no automatic compression may run now, and for how many seconds. `gains` says that a compression is known
/// to make the list smaller.
fn held_back(
    config: &ContextConfig,
    settings: &Settings,
    chain: &[Kind],
    kept: &EngineRecord,
    tokens: u64,
    gains: bool,
    now: f64,
) -> Option<(Reason, f64)> {
    if !config.enabled {
        return Some((Reason::Disabled, 0.0));
    }
    let pause = cooldown_s(kept, chain, now);
    let is_overflowing = pressure::pressure(tokens, settings.context_length) >= OVERFLOWING;
    if pause > 0.0 && !is_overflowing {
        return Some((Reason::Cooldown, pause));
    }
    match kept.breaker.verdict(&limits(config, settings), tokens, now) {
        Verdict::Allowed => None,
        // Waiting would only make the next call fail.
        Verdict::BreakerOpen { .. } if is_overflowing && gains => None,
        Verdict::RateLimited { .. } if is_overflowing => None,
        Verdict::BreakerOpen { wait_s } => Some((Reason::BreakerOpen, wait_s)),
        Verdict::RateLimited { wait_s, .. } => Some((Reason::RateLimited, wait_s)),
    }
}

/// Returns the seconds until one of the summarizers may be tried; 0 if one may be now.
pub(crate) fn cooldown_s(kept: &EngineRecord, chain: &[Kind], now: f64) -> f64 {
    let pauses = chain.iter().map(|kind| kept.cooldowns.remaining(kind.name(), now));
    pauses.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Returns the state of the breaker for the last prompt, and the seconds until it and the rate limit allow a run.
pub(crate) fn breaker(config: &ContextConfig, settings: &Settings, kept: &EngineRecord, now: f64) -> (State, f64) {
    let engine = &kept.engine;
    let tokens = engine.last_prompt().unwrap_or(engine.last_compression_rough_tokens);
    let limits = limits(config, settings);
    let breaker: &Breaker = &kept.breaker;
    let wait_s = match breaker.verdict(&limits, tokens, now) {
        Verdict::Allowed => 0.0,
        Verdict::BreakerOpen { wait_s } | Verdict::RateLimited { wait_s, .. } => wait_s,
    };
    (breaker.state(&limits, tokens, now), wait_s)
}

fn limits(config: &ContextConfig, settings: &Settings) -> Limits {
    Limits { window: settings.context_length, max_per_hour: config.max_per_hour, min_new_text: config.min_new_text }
}

#[cfg(test)]
mod tests;
