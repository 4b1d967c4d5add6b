//! How a session's estimates relate to what its provider counts.
//!
//! An estimate that was asked for and the prompt that was reported next are about the
//! same list, as far as one can tell from here. Their ratio corrects later estimates of
//! that session. Where a list only grew since, that is the same as the reported prompt
//! and, corrected, what came after it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Ratios that can be: what lies outside was about another list.
const CREDIBLE: RangeInclusive<f64> = 0.25..=4.0;

/// What is known of a session's estimates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TokenCorrection {
    /// The last estimate that no reported prompt followed yet.
    waiting: Option<u64>,
    /// Tokens of the provider for each estimated one.
    ratio: Option<f64>,
}

impl TokenCorrection {
    /// Remembers an estimate, and gives it corrected.
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

    /// Takes what the provider counted.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub(crate) fn reported(&mut self, prompt: u64) {
        let Some(estimate) = self.waiting.take() else { return };
        let ratio = prompt as f64 / estimate as f64;
        if CREDIBLE.contains(&ratio) {
            self.ratio = Some(ratio);
        }
    }

    /// The list is another one now.
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
