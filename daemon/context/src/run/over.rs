//! The report about a list that stays over the threshold.

use crate::text::thousands;

/// A list that is over the threshold although no part of it can be made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// Tokens from which compression is due.
    pub threshold: u64,
    /// Tokens of the list, by the larger of the two estimates, plus those that the caller counts in addition
    /// to it.
    pub tokens: u64,
    /// The parts that remain, with their sizes, in this order, none of them empty.
    pub parts: Vec<OverPart>,
}

/// A part of a list that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverPart {
    /// The part.
    pub part: Part,
    /// Its tokens.
    pub tokens: u64,
}

/// The parts that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The system message in front.
    System,
    /// The protected first messages after it.
    Head,
    /// The user's last message, and the last message with the results of its calls.
    LastExchange,
    /// The caller's tokens in addition to the list: its own system prompt, tools.
    Request,
}

impl Part {
    /// Returns the name of the part for a person.
    const fn words(self) -> &'static str {
        match self {
            Self::System => "the system message",
            Self::Head => "the protected first messages",
            Self::LastExchange => "the last exchange",
            Self::Request => "the rest of the request",
        }
    }
}

impl Over {
    /// Returns a warning for a person.
    pub fn warning(&self) -> String {
        let count = |tokens: u64| thousands(usize::try_from(tokens).unwrap_or(usize::MAX));
        let parts: Vec<String> =
            self.parts.iter().map(|part| format!("{} takes {}", part.part.words(), count(part.tokens))).collect();
        format!(
            "the list is still over the threshold, with {} of {} tokens, and what is left can't be made smaller: {}",
            count(self.tokens),
            count(self.threshold),
            parts.join(", ")
        )
    }
}
