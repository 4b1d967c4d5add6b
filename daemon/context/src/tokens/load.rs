//! The size of a list by both estimates.

use rayon::prelude::*;

use super::messages::own_cost;
use super::own::SCALE;
use super::{Measure, tokens_to_chars};
use crate::Message;
use crate::parallel::FEW_MESSAGES;

/// Both estimates of a list. A list must fit by the larger one: the session displays the rough estimate, but
/// the other one triggers a compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    rough: Measure,
    /// Thousandths of a token.
    own: u64,
}

impl Load {
    /// Returns the load of one message.
    pub(crate) fn of(message: &Message) -> Self {
        Self { rough: Measure::of(message), own: own_cost(message) }
    }

    /// Returns the load of a list, computed on all processors.
    pub(crate) fn of_list(messages: &[Message]) -> Self {
        let all = messages.par_iter().with_min_len(FEW_MESSAGES).map(Self::of);
        all.reduce(Self::default, Self::plus)
    }

    /// Returns the sum of both.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { rough: self.rough.plus(other.rough), own: self.own + other.own }
    }

    /// Returns a load of so many tokens by either estimate.
    pub(crate) fn flat(tokens: u64) -> Self {
        let rough = Measure { chars: tokens_to_chars(tokens), images: 0 };
        Self { rough, own: tokens.saturating_mul(SCALE) }
    }

    /// Returns the difference, at least 0.
    #[must_use]
    pub(crate) fn without(self, other: Self) -> Self {
        Self { rough: self.rough.without(other.rough), own: self.own.saturating_sub(other.own) }
    }

    /// Returns the fraction `parts` / `of` of it, rounded up.
    #[must_use]
    pub(crate) fn part(self, parts: u64, of: u64) -> Self {
        let part = |whole: u64| (u128::from(whole) * u128::from(parts)).div_ceil(u128::from(of.max(1)));
        let chars = usize::try_from(part(self.rough.chars as u64)).unwrap_or(usize::MAX);
        Self { rough: Measure { chars, ..self.rough }, own: u64::try_from(part(self.own)).unwrap_or(u64::MAX) }
    }

    /// Returns the rough estimate.
    pub(crate) fn rough(self) -> Measure {
        self.rough
    }

    /// Returns the tokens by the larger estimate.
    pub(crate) fn tokens(self) -> u64 {
        self.rough.tokens().max(self.own.div_ceil(SCALE))
    }
}

/// Returns the tokens of one message by the larger estimate.
pub(crate) fn tokens_of(message: &Message) -> u64 {
    Load::of(message).tokens()
}

impl FromIterator<Self> for Load {
    fn from_iter<I: IntoIterator<Item = Self>>(loads: I) -> Self {
        loads.into_iter().fold(Self::default(), Self::plus)
    }
}

impl<'a> FromIterator<&'a Message> for Load {
    fn from_iter<I: IntoIterator<Item = &'a Message>>(messages: I) -> Self {
        messages.into_iter().map(Self::of).collect()
    }
}
