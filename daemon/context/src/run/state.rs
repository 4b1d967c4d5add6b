//! An engine's memory of a session between two compressions.

use serde::{Deserialize, Serialize};

use super::{Compressed, Rejection};
use crate::pressure;
use crate::savings::WEAK_PCT;
use crate::settings::Settings;
use crate::usage::Usage;

/// How many weak runs in a row make [`EngineState::should_compress`] return false.
pub const MAX_INEFFECTIVE: u32 = 2;
/// Growth of the rough estimate, in tokens, that does not end a deferral by itself.
const DEFER_SLACK: u64 = 4_096;
/// The same as a share of the threshold; the larger of the two counts.
const DEFER_SHARE: f64 = 0.05;

/// The state of one session's engine: figures that every engine has, and the engine's own data. The caller
/// handles times. It can be stored as JSON: absent fields get their defaults, and unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// The rough estimate that proved to fit below the threshold; 0 if none did.
    pub last_rough_tokens_when_real_prompt_fit: u64,
    /// Whether no usage has been reported since the last compression.
    pub awaiting_real_usage: bool,
    /// The highest of [`LEVELS`](pressure::LEVELS), in percent, that the last known prompt reached; 0 if
    /// none. Reaching a higher level causes a warning.
    pub pressure_level: u8,
    /// Compressions so far.
    pub compression_count: u64,
    /// The body of the last summary, without prefix, marker and herma's sections.
    pub previous_summary: Option<String>,
    /// Whether handoffs of the list cover only the messages at their own places, because a range was
    /// compressed.
    pub has_scattered_handoffs: bool,
    /// Numbers of the episodes that have a line in a handoff; the rest of such an episode gets no second
    /// line.
    pub named_episodes: Vec<u64>,
    /// Savings of the last run, in percent.
    pub savings_pct: f64,
    /// Weak runs in a row.
    pub ineffective_count: u32,
    /// Why the last summary failed.
    pub last_error: Option<String>,
    /// How many messages the handoff of the last run replaced.
    pub dropped: usize,
    /// Whether another summarizer than the configured one wrote the last summary.
    pub fallback: bool,
    /// Whether the last run gave up because of a failed summary.
    pub aborted: bool,
    /// A summary model that failed although the run went on.
    pub aux_failure: Option<AuxFailure>,
}

/// A summary model that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuxFailure {
    /// The model's name.
    pub model: String,
    /// The error, at most 220 chars.
    pub error: String,
}

/// Notes about a run, in addition to its list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNotes {
    /// Another summarizer than the configured one wrote the summary.
    pub fallback: bool,
    /// Why the last summarizer that was tried failed.
    pub error: Option<String>,
    /// A summary model that failed and was replaced.
    pub aux_failure: Option<AuxFailure>,
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
            pressure_level: 0,
            compression_count: 0,
            previous_summary: None,
            has_scattered_handoffs: false,
            named_episodes: Vec::new(),
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
    /// Resets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Ends a session: only the summary is forgotten.
    pub fn end_session(&mut self) {
        self.previous_summary = None;
        self.has_scattered_handoffs = false;
    }

    /// Clears the fields of one run.
    pub(crate) fn begin_run(&mut self) {
        self.last_error = None;
        self.dropped = 0;
        self.fallback = false;
        self.aborted = false;
        self.aux_failure = None;
    }

    /// Records the usage of a call. Returns a warning if the prompt reached a higher level of
    /// [`LEVELS`](pressure::LEVELS) than the one before, or came near the threshold. A prompt of 0 tokens
    /// means that the provider did not report it, and changes neither.
    pub fn record_usage(&mut self, usage: &Usage, settings: &Settings) -> Option<String> {
        let prompt = usage.prompt();
        self.last_prompt_tokens = i64::try_from(prompt).unwrap_or(i64::MAX);
        self.last_completion_tokens = usage.output;
        self.last_total_tokens = usage.total();
        let waited = std::mem::take(&mut self.awaiting_real_usage);
        if prompt == 0 {
            return None;
        }
        let threshold = settings.budgets().threshold_tokens;
        let was_near = pressure::is_near(self.last_real_prompt_tokens, threshold);
        self.last_real_prompt_tokens = prompt;
        if prompt >= threshold {
            self.last_rough_tokens_when_real_prompt_fit = 0;
        } else if waited && self.last_compression_rough_tokens > 0 {
            self.last_rough_tokens_when_real_prompt_fit = self.last_compression_rough_tokens;
        }
        let window = settings.context_length;
        let level = pressure::level(prompt, window);
        let before = std::mem::replace(&mut self.pressure_level, level);
        let fuller = (level > before).then(|| pressure::warning(level, prompt, window));
        let is_near = pressure::is_near(prompt, threshold) && prompt < threshold;
        let near = (is_near && !was_near).then(|| pressure::near_warning(prompt, threshold));
        let described: Vec<String> = [fuller, near].into_iter().flatten().collect();
        (!described.is_empty()).then(|| described.join(" "))
    }

    /// Records a successful run. The usage of calls reported since it began stays, except for the prompt's
    /// size, which has changed.
    pub fn commit(&mut self, done: &Compressed, notes: &RunNotes) {
        let RunNotes { fallback, error, aux_failure } = notes.clone();
        self.take_run(Self { fallback, last_error: error, aux_failure, ..done.state.clone() });
        self.record_compression(done.numbers.tokens_after);
    }

    /// Restores the figures and the summary from before the undone runs. The prompt has changed, and no
    /// estimate of it is known to fit.
    pub fn undo(&mut self, before: Self) {
        self.take_run(before);
        self.record_compression(0);
        self.last_rough_tokens_when_real_prompt_fit = 0;
    }

    /// Records a run that gave up because no summarizer wrote its summary.
    pub fn abort(&mut self, notes: &RunNotes) {
        self.begin_run();
        self.aborted = true;
        self.last_error.clone_from(&notes.error);
        self.aux_failure.clone_from(&notes.aux_failure);
    }

    /// Records a run that was declined. A run without a gain counts as weak, but not one whose list was too
    /// short.
    pub fn decline(&mut self, why: Rejection) {
        self.begin_run();
        if why != Rejection::TooFew {
            self.ineffective_count = self.ineffective_count.saturating_add(1);
            self.savings_pct = 0.0;
        }
    }

    /// Records the savings of a run, in percent.
    pub(crate) fn note_savings(&mut self, pct: f64) {
        self.savings_pct = pct;
        self.ineffective_count = if pct < WEAK_PCT { self.ineffective_count.saturating_add(1) } else { 0 };
    }

    /// Returns the prompt tokens of the last call; `None` after a compression, until the next call is
    /// reported.
    pub fn last_prompt(&self) -> Option<u64> {
        u64::try_from(self.last_prompt_tokens).ok()
    }

    /// Returns the size before a run: the caller's figure, else the last prompt, else the estimate. Figures
    /// of 0 and less are ignored.
    pub fn size_before(&self, current: Option<i64>, estimate: u64) -> u64 {
        current
            .filter(|&tokens| tokens > 0)
            .and_then(|tokens| u64::try_from(tokens).ok())
            .or_else(|| self.last_prompt().filter(|&tokens| tokens > 0))
            .unwrap_or(estimate)
    }

    /// Takes over the figures and the summary of a run that began earlier.
    fn take_run(&mut self, run: Self) {
        let Self {
            compression_count,
            previous_summary,
            has_scattered_handoffs,
            named_episodes,
            savings_pct,
            ineffective_count,
            last_error,
            dropped,
            fallback,
            aborted,
            aux_failure,
            ..
        } = run;
        self.compression_count = compression_count;
        self.previous_summary = previous_summary;
        self.has_scattered_handoffs = has_scattered_handoffs;
        self.named_episodes = named_episodes;
        self.savings_pct = savings_pct;
        self.ineffective_count = ineffective_count;
        self.last_error = last_error;
        self.dropped = dropped;
        self.fallback = fallback;
        self.aborted = aborted;
        self.aux_failure = aux_failure;
    }

    /// Does what the host of C16 does after a compression: the prompt is unknown until the next call.
    pub(crate) fn record_compression(&mut self, rough_tokens: u64) {
        self.last_prompt_tokens = -1;
        self.last_completion_tokens = 0;
        self.last_compression_rough_tokens = rough_tokens;
        self.awaiting_real_usage = true;
    }

    /// Whether so many prompt tokens require a compression. Without a figure those of the last call count. An
    /// unknown prompt requires none.
    pub fn should_compress(&self, settings: &Settings, tokens: Option<u64>) -> bool {
        tokens.or_else(|| self.last_prompt()).is_some_and(|tokens| tokens >= settings.budgets().threshold_tokens)
            && self.ineffective_count < MAX_INEFFECTIVE
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

    /// Returns the prompt tokens as a percentage of the window, at most 100.
    pub fn usage_percent(&self, context_length: u64) -> f64 {
        let prompt = self.last_prompt().unwrap_or(0);
        (pressure::pressure(prompt, context_length) * 100.0).min(100.0)
    }
}

#[cfg(test)]
mod tests;
