//! What is told of a list that stays over the threshold.

use crate::text::thousands;

/// A list that is over the threshold although nothing in it can be made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// Tokens from which compression is due.
    pub threshold: u64,
    /// Tokens of the list, by the larger of the two estimates, and of what the caller counts
    /// beside it.
    pub tokens: u64,
    /// What takes them and stays, in this order, none of them empty.
    pub parts: Vec<OverPart>,
}

/// A part of a list that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverPart {
    /// Which one.
    pub part: Part,
    /// Tokens that it takes.
    pub tokens: u64,
}

/// The parts that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The system message in front.
    System,
    /// The protected first messages behind it.
    Head,
    /// What the user said last, and the last message with the results of its calls.
    LastExchange,
    /// What the caller counts beyond the list: a system prompt of its own, tools.
    Request,
}

impl Part {
    /// As a person reads it.
    const fn words(self) -> &'static str {
        match self {
            Self::System => "the system message",
            Self::Head => "the protected first messages",
            Self::LastExchange => "the last exchange",
            Self::Request => "what is sent beside the list",
        }
    }
}

impl Over {
    /// The same as a sentence for a person.
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
