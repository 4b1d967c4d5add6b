//! What an engine remembers of a session between two compressions.

/// How many weak runs in a row make [`EngineState::should_compress`] say no.
pub const MAX_INEFFECTIVE: u32 = 2;
/// Growth of the rough estimate, in tokens, that never ends a deferral by itself.
const DEFER_SLACK: u64 = 4_096;
/// The same as a share of the threshold; the larger of the two counts.
const DEFER_SHARE: f64 = 0.05;

/// The state of one session's engine. Times are the caller's business.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineState {
    /// Prompt tokens of the last call; -1 after a compression: unknown.
    pub last_prompt_tokens: i64,
    /// Completion tokens of the last call.
    pub last_completion_tokens: u64,
    /// Total tokens of the last call.
    pub last_total_tokens: u64,
    /// The last prompt tokens above 0 that a provider reported.
    pub last_real_prompt_tokens: u64,
    /// The rough estimate right after the last compression.
    pub last_compression_rough_tokens: u64,
    /// The rough estimate that turned out to fit below the threshold; 0 if none did.
    pub last_rough_tokens_when_real_prompt_fit: u64,
    /// Whether no usage was reported since the last compression.
    pub awaiting_real_usage: bool,
    /// Compressions so far.
    pub compression_count: u64,
    /// The body of the last summary, without prefix, marker and what herma appends.
    pub previous_summary: Option<String>,
    /// Savings of the last run, in percent.
    pub savings_pct: f64,
    /// Weak runs in a row.
    pub ineffective_count: u32,
    /// Why the last summary failed.
    pub last_error: Option<String>,
    /// How many messages the last run replaced by its handoff.
    pub dropped: usize,
    /// Whether another summarizer than the configured one wrote the last summary.
    pub fallback: bool,
    /// Whether the last run gave up because of a failed summary.
    pub aborted: bool,
    /// A summary model that failed although the run went on.
    pub aux_failure: Option<AuxFailure>,
}

/// A summary model that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuxFailure {
    /// The model's name.
    pub model: String,
    /// What went wrong, at most 220 chars.
    pub error: String,
}

impl Default for EngineState {
    fn default() -> Self {
        Self {
            last_prompt_tokens: 0,
            last_completion_tokens: 0,
            last_total_tokens: 0,
            last_real_prompt_tokens: 0,
            last_compression_rough_tokens: 0,
            last_rough_tokens_when_real_prompt_fit: 0,
            awaiting_real_usage: false,
            compression_count: 0,
            previous_summary: None,
            savings_pct: 100.0,
            ineffective_count: 0,
            last_error: None,
            dropped: 0,
            fallback: false,
            aborted: false,
            aux_failure: None,
        }
    }
}

impl EngineState {
    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The end of a session forgets the summary only.
    pub fn end_session(&mut self) {
        self.previous_summary = None;
    }

    /// Clears what belongs to one run.
    pub fn begin_run(&mut self) {
        self.last_error = None;
        self.dropped = 0;
        self.fallback = false;
        self.aborted = false;
        self.aux_failure = None;
    }

    /// Takes the usage of a call; a `total` of none is the sum of the other two.
    pub fn record_usage(&mut self, prompt: u64, completion: u64, total: Option<u64>, threshold: u64) {
        self.last_prompt_tokens = i64::try_from(prompt).unwrap_or(i64::MAX);
        self.last_completion_tokens = completion;
        self.last_total_tokens = total.unwrap_or(prompt.saturating_add(completion));
        if prompt > 0 {
            self.last_real_prompt_tokens = prompt;
            if prompt >= threshold {
                self.last_rough_tokens_when_real_prompt_fit = 0;
            } else if self.awaiting_real_usage && self.last_compression_rough_tokens > 0 {
                self.last_rough_tokens_when_real_prompt_fit = self.last_compression_rough_tokens;
            }
        }
        self.awaiting_real_usage = false;
    }

    /// What the host of C16 does after a compression: the prompt is unknown until the next call.
    pub fn record_compression(&mut self, rough_tokens: u64) {
        self.last_prompt_tokens = -1;
        self.last_completion_tokens = 0;
        self.last_compression_rough_tokens = rough_tokens;
        self.awaiting_real_usage = true;
    }

    /// Whether that many tokens call for a compression.
    pub fn should_compress(&self, tokens: u64, threshold: u64) -> bool {
        tokens >= threshold && self.ineffective_count < MAX_INEFFECTIVE
    }

    /// Whether a rough estimate over the threshold may wait for the provider's own count; if so,
    /// the estimate becomes the new baseline.
    pub fn defer_preflight(&mut self, rough: u64, threshold: u64) -> bool {
        let real = self.last_real_prompt_tokens;
        let baseline = match self.last_rough_tokens_when_real_prompt_fit {
            0 => self.last_compression_rough_tokens,
            fit => fit,
        };
        let slack = DEFER_SLACK.max(crate::settings::share(threshold, DEFER_SHARE));
        let defers = rough >= threshold
            && real > 0
            && real < threshold
            && baseline > 0
            && rough.saturating_sub(baseline) <= slack;
        if defers {
            self.last_rough_tokens_when_real_prompt_fit = baseline.max(rough);
        }
        defers
    }

    /// Prompt tokens as a percentage of the window, at most 100.
    #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
    pub fn usage_percent(&self, context_length: u64) -> f64 {
        if context_length == 0 || self.last_prompt_tokens <= 0 {
            return 0.0;
        }
        (self.last_prompt_tokens as f64 / context_length as f64 * 100.0).min(100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_clears_the_waiting_flag_and_learns_what_fits() {
        let mut state = EngineState::default();
        state.record_compression(70_000);
        assert_eq!(state.last_prompt_tokens, -1);
        state.record_usage(50_000, 10, None, 64_000);
        assert_eq!(state.last_rough_tokens_when_real_prompt_fit, 70_000);
        assert_eq!(state.last_total_tokens, 50_010);
        assert!(!state.awaiting_real_usage);
        state.record_usage(64_000, 0, Some(9), 64_000);
        assert_eq!(state.last_rough_tokens_when_real_prompt_fit, 0);
        assert_eq!(state.last_total_tokens, 9);
    }

    #[test]
    fn a_rough_estimate_defers_to_a_real_one_that_fitted() {
        let mut state = EngineState::default();
        assert!(!state.defer_preflight(70_000, 64_000));
        state.record_compression(66_000);
        state.record_usage(50_000, 0, None, 64_000);
        assert!(state.defer_preflight(70_096, 64_000));
        assert!(!state.defer_preflight(75_000, 64_000));
        assert!(!state.defer_preflight(63_999, 64_000));
    }

    #[test]
    fn two_weak_runs_stop_automatic_compression() {
        let mut state = EngineState::default();
        assert!(state.should_compress(100, 100));
        assert!(!state.should_compress(99, 100));
        state.ineffective_count = 2;
        assert!(!state.should_compress(100, 100));
        state.reset();
        assert!(state.should_compress(100, 100));
    }
}
