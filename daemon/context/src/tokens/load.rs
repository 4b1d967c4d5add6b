//! What a list takes by both estimates at once.

use rayon::prelude::*;

use super::Measure;
use super::messages::own_cost;
use super::own::SCALE;
use crate::Message;
use crate::parallel::FEW_MESSAGES;

/// Both estimates of a list. What fits has to fit by the larger one: a session is shown the rough
/// one, and asked to compress by the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    rough: Measure,
    /// Thousandths of a token.
    own: u64,
}

impl Load {
    /// What one message takes.
    pub(crate) fn of(message: &Message) -> Self {
        Self { rough: Measure::of(message), own: own_cost(message) }
    }

    /// What all of them take, read on all processors.
    pub(crate) fn of_list(messages: &[Message]) -> Self {
        let all = messages.par_iter().with_min_len(FEW_MESSAGES).map(Self::of);
        all.reduce(Self::default, Self::plus)
    }

    /// Both together.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { rough: self.rough.plus(other.rough), own: self.own + other.own }
    }

    /// The rough estimate's part.
    pub(crate) fn rough(self) -> Measure {
        self.rough
    }

    /// Tokens, by the larger estimate.
    pub(crate) fn tokens(self) -> u64 {
        self.rough.tokens().max(self.own.div_ceil(SCALE))
    }
}

/// Tokens of one message by the larger estimate.
pub(crate) fn tokens_of(message: &Message) -> u64 {
    Load::of(message).tokens()
}

impl<'a> FromIterator<&'a Message> for Load {
    fn from_iter<I: IntoIterator<Item = &'a Message>>(messages: I) -> Self {
        messages.into_iter().map(Self::of).fold(Self::default(), Self::plus)
    }
}
