//! What a new list has to stay below, and what travels beside it.

use crate::request::Prompt;
use crate::settings::{AIM, Settings};

/// Percent of the window within which a list still can be sent, where the threshold is out of
/// reach.
const SENDABLE: u64 = 95;
/// Percent of the threshold that what travels beside the list is taken to be at the most. A figure
/// of the caller's that says more may be stale.
const MOST_BESIDE: u64 = 50;
/// Percent of a prompt that its provider refused below which the next one has to stay.
const REFUSED: u64 = 75;
/// Percent of the threshold below which a gain that leaves the list over it is none.
const LEAST_GAIN: u64 = 1;

/// Tokens of the smallest handoff that is worth its frame, frame included, in a window of ordinary size.
const SMALLEST_HANDOFF: u64 = 600;
/// The same in the smallest one: its frame, where the messages are, and some words.
const SMALLEST_HANDOFF_OF_ALL: u64 = 300;
/// Of a threshold so many parts make the smallest handoff, between these two.
const HANDOFF_PARTS: u64 = 8;

/// How large a list may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    /// Tokens from which compression is due.
    pub(crate) threshold: u64,
    /// Tokens of a list that is still acceptable where the threshold is out of reach: the window. With a target nothing
    /// above the threshold is, and the list becomes as small as it can.
    acceptable: u64,
    /// Tokens of the input, by the larger estimate.
    pub(crate) before: u64,
    /// Tokens that the caller counts beyond the list: a system prompt of its own, tools.
    pub(crate) said_beside: u64,
    /// The provider refused the prompt as too long.
    is_refused: bool,
}

impl Goal {
    /// For a list of so many tokens that is a part of this prompt.
    pub(crate) fn of(before: u64, settings: &Settings, prompt: Prompt) -> Self {
        let threshold = settings.budgets().threshold_tokens;
        let current = prompt.tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        // The window is smaller than it was said to be, or tokens are counted in another way: what
        // is known is only that this was too much.
        let refused = percent(current.max(before), REFUSED);
        let threshold = if prompt.is_refused { threshold.min(refused) } else { threshold };
        Self {
            threshold,
            acceptable: if settings.has_lower_target() { threshold } else { settings.context_length },
            before,
            said_beside: current.saturating_sub(before),
            is_refused: prompt.is_refused,
        }
    }

    /// The same for a list that has grown to so many tokens since, in a prompt of `current` ones.
    pub(crate) fn grown(self, before: u64, current: Option<i64>) -> Self {
        let current = current.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        Self { before, said_beside: current.saturating_sub(before), ..self }
    }

    /// Tokens that are taken to travel beside the list.
    pub(crate) fn beside(&self) -> u64 {
        self.said_beside.min(percent(self.threshold, MOST_BESIDE))
    }

    /// Whether the provider refused the input as too long.
    pub(crate) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Whether the input has to become smaller.
    pub(crate) fn is_over(&self) -> bool {
        self.is_refused || self.before + self.beside() >= self.threshold
    }

    /// Tokens that a list may have, from what it should have to what it may have at the worst.
    pub(crate) fn levels(&self) -> [u64; 3] {
        let list = |tokens: u64| tokens.saturating_sub(self.beside());
        let sendable = percent(self.acceptable, SENDABLE).min(self.before.saturating_sub(self.least_gain()));
        [list(percent(self.threshold, AIM)), list(self.threshold.saturating_sub(1)), list(sendable)]
    }

    /// Tokens of the smallest handoff that says anything, its frame included.
    pub(crate) fn smallest_handoff(&self) -> u64 {
        (self.threshold / HANDOFF_PARTS).clamp(SMALLEST_HANDOFF_OF_ALL, SMALLEST_HANDOFF)
    }

    /// Tokens by which a list that stays over the threshold has to become smaller.
    pub(crate) fn least_gain(&self) -> u64 {
        percent(self.threshold, LEAST_GAIN).max(1)
    }
}

/// So many percent of some tokens.
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
