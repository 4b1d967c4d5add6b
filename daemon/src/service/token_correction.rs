//! The ratio between a session's token estimates and its provider's counts.
//!
//! An estimate, and the prompt size that is reported next, are very likely about the same list. Their ratio corrects
//! later estimates of the session. If a list only grew since, the corrected estimate equals the reported size plus the
//! corrected size of the new part.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The plausible ratios. A ratio outside was for another list.
const CREDIBLE: RangeInclusive<f64> = 0.25..=4.0;

/// The knowledge about a session's estimates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TokenCorrection {
    /// The last estimate without a reported prompt after it.
    waiting: Option<u64>,
    /// The provider's tokens per estimated token.
    ratio: Option<f64>,
}

impl TokenCorrection {
    /// Remembers an estimate, and returns it corrected.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "tokens of a list, times a ratio that is not negative"
    )]
    pub(crate) fn estimated(&mut self, tokens: u64) -> u64 {
        self.waiting = Some(tokens).filter(|&tokens| tokens > 0);
        self.ratio.map_or(tokens, |ratio| (tokens as f64 * ratio).round() as u64)
    }

    /// Notes the provider's count.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub(crate) fn reported(&mut self, prompt: u64) {
        let Some(estimate) = self.waiting.take() else { return };
        let ratio = prompt as f64 / estimate as f64;
        if CREDIBLE.contains(&ratio) {
            self.ratio = Some(ratio);
        }
    }

    /// Notes that the list has changed.
    pub(crate) fn list_changed(&mut self) {
        self.waiting = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_prompt_corrects_what_follows() {
        let mut counting = TokenCorrection::default();
        assert_eq!(counting.estimated(1000), 1000);
        counting.reported(1500);
        assert_eq!(counting.estimated(2000), 3000);
        counting.list_changed();
        counting.reported(9);
        assert_eq!(counting.estimated(10), 15);
        counting.reported(100_000);
        assert_eq!(counting.estimated(10), 15, "that was about another list");
    }
}
