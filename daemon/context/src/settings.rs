//! The checked settings of a session's engine, and the budgets derived from them.

mod engine;
mod host;

use std::ops::RangeInclusive;

pub use engine::Engine;
pub use host::Host;

/// The lower bound of the threshold in tokens, unless 85 % of the window is less.
pub const MIN_CONTEXT: u64 = 64_000;
/// The limit of the threshold, as a share of the window, where [`MIN_CONTEXT`] raises it.
const SMALL_WINDOW_SHARE: f64 = 0.85;
/// The range of the tail's share of the threshold; values outside are clamped.
const TARGET_RATIO_RANGE: RangeInclusive<f64> = 0.10..=0.80;
/// The most tokens of a summary, as a share of the window.
const SUMMARY_SHARE: f64 = 0.05;
/// The most tokens of a summary.
const MAX_SUMMARY_TOKENS: u64 = 12_000;
/// The size of a new list that a run aims at, in percent of the threshold. Such a saving is worth a run, and
/// the next message does not cause another one.
pub(crate) const AIM: u64 = 90;

/// The settings for compressing one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The engine that compresses.
    pub engine: Engine,
    /// The session's own model.
    pub model: Option<String>,
    /// The window in tokens; at least 1.
    pub context_length: u64,
    /// The threshold as a share of the window; above 0, at most 1.
    pub threshold: f64,
    /// The tail as a share of the threshold; 0.10 to 0.80.
    pub target_ratio: f64,
    /// How many messages after the system message stay unchanged; none in a window of less than 1,000 tokens.
    pub protect_first_n: usize,
    /// How many messages at the end stay unchanged, at least.
    pub protect_last_n: usize,
    /// The model that writes summaries, if another than `model`.
    pub summary_model: Option<String>,
    /// Whether a failed summary stops the run; otherwise the extractive summary replaces it.
    pub abort_on_summary_failure: bool,
    /// Whether secrets are masked in the summarizer's input and output.
    pub redact: bool,
    /// The size of a handoff in percent of its ordinary size; 1 to 1,000.
    pub handoff_percent: u64,
    /// The most tokens of a compressed list, if that is less than the threshold requires.
    pub target: Option<u64>,
    /// The forms of a compressed list that the host accepts.
    pub host: Host,
}

/// How detailed a handoff is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// At most half of the ordinary size.
    Low,
    /// The ordinary size.
    #[default]
    Medium,
    /// Up to twice the ordinary size.
    High,
}

impl Detail {
    /// Returns the percent of the ordinary size.
    const fn percent(self) -> u64 {
        match self {
            Self::Low => 50,
            Self::Medium => 100,
            Self::High => 200,
        }
    }
}

/// The input of [`Settings`]: everything but the window may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawSettings {
    /// See [`Settings::engine`]; the compressor by default.
    pub engine: Engine,
    /// See [`Settings::model`].
    pub model: Option<String>,
    /// See [`Settings::context_length`].
    pub context_length: u64,
    /// See [`Settings::threshold`]; default 0.50.
    pub threshold: Option<f64>,
    /// See [`Settings::target_ratio`]; default 0.20.
    pub target_ratio: Option<f64>,
    /// See [`Settings::protect_first_n`]; default 3.
    pub protect_first_n: Option<usize>,
    /// See [`Settings::protect_last_n`]; default 20.
    pub protect_last_n: Option<usize>,
    /// See [`Settings::summary_model`].
    pub summary_model: Option<String>,
    /// See [`Settings::abort_on_summary_failure`]; default false.
    pub abort_on_summary_failure: Option<bool>,
    /// See [`Settings::redact`]; default true.
    pub redact: Option<bool>,
}

/// The error for an invalid setting.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The window is 0.
    #[error("context_length must be at least 1")]
    ContextLength,
    /// The threshold is not a share.
    #[error("threshold must be above 0 and at most 1, got {0}")]
    Threshold(f64),
    /// The ratio is not a number.
    #[error("target_ratio must be a number, got {0}")]
    TargetRatio(f64),
}

/// The budgets derived from the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Prompt tokens from which compression is due.
    pub threshold_tokens: u64,
    /// The most tokens of the tail.
    pub tail_token_budget: u64,
    /// The most tokens of a summary.
    pub max_summary_tokens: u64,
}

impl RawSettings {
    /// Fills in the defaults and checks every value.
    pub fn check(self) -> Result<Settings, SettingsError> {
        let threshold = self.threshold.unwrap_or(0.50);
        let target_ratio = self.target_ratio.unwrap_or(0.20);
        if self.context_length == 0 {
            return Err(SettingsError::ContextLength);
        }
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(SettingsError::Threshold(threshold));
        }
        if target_ratio.is_nan() {
            return Err(SettingsError::TargetRatio(target_ratio));
        }
        let (low, high) = (*TARGET_RATIO_RANGE.start(), *TARGET_RATIO_RANGE.end());
        Ok(Settings {
            engine: self.engine,
            model: self.model,
            context_length: self.context_length,
            threshold,
            target_ratio: target_ratio.clamp(low, high),
            protect_first_n: self.protect_first_n.unwrap_or(3),
            protect_last_n: self.protect_last_n.unwrap_or(20),
            summary_model: self.summary_model,
            abort_on_summary_failure: self.abort_on_summary_failure.unwrap_or(false),
            redact: self.redact.unwrap_or(true),
            handoff_percent: 100,
            target: None,
            host: Host::default(),
        })
    }
}

impl Settings {
    /// Returns the settings of a window with every default.
    pub fn of_window(context_length: u64) -> Result<Self, SettingsError> {
        RawSettings { context_length, ..RawSettings::default() }.check()
    }

    /// Returns these settings with more or less detailed handoffs.
    #[must_use]
    pub fn detailed(self, detail: Detail) -> Self {
        Self { handoff_percent: self.handoff_percent * detail.percent() / 100, ..self }
    }

    /// Returns these settings for lists of at most so many tokens.
    #[must_use]
    pub fn aimed_at(self, target: Option<u64>) -> Self {
        Self { target, ..self }
    }

    /// Returns these settings for this host.
    #[must_use]
    pub fn hosted_by(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// Returns the prompt tokens from which compression is due, whatever the target.
    fn due_tokens(&self) -> u64 {
        let window = self.context_length;
        share(window, self.threshold).max(MIN_CONTEXT.min(share(window, SMALL_WINDOW_SHARE)))
    }

    /// Whether the target requires a smaller list than the threshold does.
    pub(crate) fn has_lower_target(&self) -> bool {
        self.budgets().threshold_tokens < self.due_tokens()
    }

    /// Returns the budgets of these settings.
    pub fn budgets(&self) -> Budgets {
        let (window, due) = (self.context_length, self.due_tokens());
        // A new list aims at a share of the threshold, so the target becomes that share of a lower threshold.
        let threshold_tokens =
            self.target.map_or(due, |target| due.min(target.max(1).saturating_mul(100).div_ceil(AIM)));
        Budgets {
            threshold_tokens,
            tail_token_budget: share(threshold_tokens, self.target_ratio),
            max_summary_tokens: share(window, SUMMARY_SHARE).min(MAX_SUMMARY_TOKENS) * self.handoff_percent / 100,
        }
    }
}

/// `int(tokens × share)`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "tokens and shares are not negative, and truncation is what the formula says"
)]
pub(crate) fn share(tokens: u64, share: f64) -> u64 {
    (tokens as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(window: u64, ratio: f64) -> (u64, u64, u64) {
        let settings = RawSettings { context_length: window, target_ratio: Some(ratio), ..RawSettings::default() };
        let budgets = settings.check().unwrap().budgets();
        (budgets.threshold_tokens, budgets.tail_token_budget, budgets.max_summary_tokens)
    }

    #[test]
    fn budgets_follow_the_window() {
        assert_eq!(budgets(200_000, 0.20), (100_000, 20_000, 10_000));
        assert_eq!(budgets(200_000, 0.40).1, 40_000);
        assert_eq!(budgets(1_000_000, 0.40).1, 200_000);
        assert_eq!(budgets(100_000, 0.20).0, 64_000);
        assert_eq!(budgets(1_000_000, 0.20).2, 12_000);
        assert_eq!(budgets(10_000, 0.20), (8_500, 1_700, 500));
        assert_eq!(budgets(64_000, 0.20).0, 54_400);
        assert_eq!(budgets(1, 0.20), (0, 0, 0));
    }

    #[test]
    fn the_ratio_is_clamped() {
        assert_eq!(budgets(200_000, 0.01).1, 10_000);
        assert_eq!(budgets(200_000, 5.0).1, 80_000);
    }

    #[test]
    fn senseless_settings_are_refused() {
        assert_eq!(Settings::of_window(0), Err(SettingsError::ContextLength));
        for threshold in [0.0, -1.0, 1.5] {
            let raw = RawSettings { context_length: 10, threshold: Some(threshold), ..RawSettings::default() };
            assert_eq!(raw.check(), Err(SettingsError::Threshold(threshold)));
        }
    }
}
