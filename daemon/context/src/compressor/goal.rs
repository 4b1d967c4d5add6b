//! The size goals of a new list, and the tokens sent with it.

use crate::request::Prompt;
use crate::settings::{AIM, Settings};

/// Percent of the window up to which a list can still be sent, if the threshold is out of reach.
const SENDABLE: u64 = 95;
/// The most tokens assumed to be sent with the list, in percent of the threshold. A larger figure of the
/// caller may be stale.
const MAX_EXTRA_PERCENT: u64 = 50;
/// The limit for the next prompt, in percent of a prompt that the provider refused.
const REFUSED: u64 = 75;
/// The least gain of a list that stays over the threshold, in percent of the threshold.
const LEAST_GAIN: u64 = 1;

/// Tokens of the smallest useful handoff, frame included, in an ordinary window.
const SMALLEST_HANDOFF: u64 = 600;
/// Tokens of the smallest handoff in a tiny window: its frame, the handle of the messages, and some words.
const SMALLEST_HANDOFF_OF_ALL: u64 = 300;
/// The smallest handoff is the threshold divided by this, within the two limits above.
const HANDOFF_PARTS: u64 = 8;

/// The size limits of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    /// Tokens from which compression is due.
    pub(crate) threshold: u64,
    /// Tokens of a list that is still acceptable if the threshold is out of reach: the window. With a target,
    /// nothing above the threshold is acceptable, and the list becomes as small as possible.
    acceptable: u64,
    /// Tokens of the input, by the larger estimate.
    pub(crate) before: u64,
    /// Tokens that the caller counts in addition to the list: its own system prompt, tools.
    pub(crate) reported_extra_tokens: u64,
    /// Whether the provider refused the prompt as too long.
    is_refused: bool,
}

impl Goal {
    /// Returns the goal for a list of so many tokens that is part of this prompt.
    pub(crate) fn of(before: u64, settings: &Settings, prompt: Prompt) -> Self {
        let threshold = settings.budgets().threshold_tokens;
        let current = prompt.tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        // The window is smaller than stated, or the provider counts tokens differently. The only known fact
        // is that this prompt was too large.
        let refused = percent(current.max(before), REFUSED);
        let threshold = if prompt.is_refused { threshold.min(refused) } else { threshold };
        Self {
            threshold,
            acceptable: if settings.has_lower_target() { threshold } else { settings.context_length },
            before,
            reported_extra_tokens: current.saturating_sub(before),
            is_refused: prompt.is_refused,
        }
    }

    /// Returns the goal for the list after it has grown to so many tokens, in a prompt of `current` tokens.
    pub(crate) fn grown(self, before: u64, current: Option<i64>) -> Self {
        let current = current.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        Self { before, reported_extra_tokens: current.saturating_sub(before), ..self }
    }

    /// Returns the tokens assumed to be sent with the list.
    pub(crate) fn beside(&self) -> u64 {
        self.reported_extra_tokens.min(percent(self.threshold, MAX_EXTRA_PERCENT))
    }

    /// Whether the provider refused the input as too long.
    pub(crate) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Whether the input must become smaller.
    pub(crate) fn is_over(&self) -> bool {
        self.is_refused || self.before + self.beside() >= self.threshold
    }

    /// Returns the allowed sizes of a list in tokens, from the desired one to the worst acceptable one.
    pub(crate) fn levels(&self) -> [u64; 3] {
        let list = |tokens: u64| tokens.saturating_sub(self.beside());
        let sendable = percent(self.acceptable, SENDABLE).min(self.before.saturating_sub(self.least_gain()));
        [list(percent(self.threshold, AIM)), list(self.threshold.saturating_sub(1)), list(sendable)]
    }

    /// Returns the tokens of the smallest useful handoff, its frame included.
    pub(crate) fn smallest_handoff(&self) -> u64 {
        (self.threshold / HANDOFF_PARTS).clamp(SMALLEST_HANDOFF_OF_ALL, SMALLEST_HANDOFF)
    }

    /// Returns the tokens that a list must lose if it stays over the threshold.
    pub(crate) fn least_gain(&self) -> u64 {
        percent(self.threshold, LEAST_GAIN).max(1)
    }
}

/// Returns so many percent of some tokens.
pub(super) fn percent(tokens: u64, percent: u64) -> u64 {
    tokens / 100 * percent + tokens % 100 * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{list, say, settings};
    use crate::tokens::Load;

    #[test]
    fn what_the_caller_counts_beyond_the_list_is_room_that_it_must_leave() {
        let (messages, settings) = (list("UAUA"), settings(10_000, 3, 20));
        let size = Load::of_list(&messages).tokens();
        let said = |tokens: u64| i64::try_from(tokens).ok();
        for (current, beside, is_over) in [
            (None, 0, false),
            (Some(-1), 0, false),
            (said(size), 0, false),
            (said(10), 0, false),
            (said(size + 3_000), 3_000, false),
            (said(size + 4_250), 4_250, false),
            (Some(i64::MAX), 4_250, false),
        ] {
            let goal = Goal::of(size, &settings, Prompt::of(current));
            assert_eq!((goal.beside(), goal.is_over()), (beside, is_over), "{current:?}");
        }
        let many = list(&"UA".repeat(3));
        let goal = Goal::of(Load::of_list(&many).tokens(), &settings, Prompt::of(Some(9_000)));
        assert!(goal.is_over());
    }

    #[test]
    fn either_estimate_can_be_over() {
        let chinese = vec![say("user", &"请看文件".repeat(2_800))];
        let goal = Goal::of(Load::of_list(&chinese).tokens(), &settings(10_000, 3, 20), Prompt::default());
        assert!(Load::of_list(&chinese).rough().tokens() < 8_500 && goal.is_over(), "{goal:?}");
    }

    #[test]
    fn a_prompt_that_was_refused_has_to_become_smaller_whatever_the_threshold() {
        let messages = list("UA");
        let size = Load::of_list(&messages).tokens();
        let settings = settings(100_000, 3, 20);
        let prompt = |tokens, is_refused| Prompt { tokens: Some(tokens), is_refused };
        assert!(!Goal::of(size, &settings, prompt(8_000, false)).is_over());
        let goal = Goal::of(size, &settings, prompt(8_000, true));
        assert!(goal.is_over() && goal.threshold == 6_000, "{goal:?}");
        let goal = Goal::of(size, &settings, prompt(1_000_000, true));
        assert_eq!(goal.threshold, settings.budgets().threshold_tokens);
    }
}
