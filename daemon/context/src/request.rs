//! What a caller asks of a plan or a compression.

use std::ops::Range;

use crate::constraints::Constraint;
use crate::node::KnownNodes;
use crate::wishes::Wishes;

/// What the summary should favour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The newest user messages, if there are any.
    #[default]
    Auto,
    /// Nothing.
    Off,
    /// This topic.
    Topic(String),
}

/// Parameters of [`Engine::plan`](super::Engine::plan).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// What the summary should favour.
    pub focus: Focus,
    /// A summary that the session holds already.
    pub previous_summary: Option<String>,
    /// As in [`EngineState::has_scattered_handoffs`](crate::engine::EngineState::has_scattered_handoffs).
    pub has_scattered_handoffs: bool,
    /// Today in the user's time zone.
    pub today: Option<Today>,
    /// What the agent wishes for its messages.
    pub wishes: Wishes,
    /// As in [`CompressRequest::range`].
    pub range: Option<Range<usize>>,
}

/// Parameters of [`Engine::prepare`](super::Engine::prepare).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompressRequest {
    /// What the summary should favour.
    pub focus: Focus,
    /// Today in the user's time zone.
    pub today: Option<Today>,
    /// What the caller takes the prompt to be, in tokens; 0 and less count as absent.
    pub current_tokens: Option<i64>,
    /// The session's rules, those that hold no more included.
    pub constraints: Vec<Constraint>,
    /// When this is, in Unix seconds; new rules are dated with it.
    pub now: f64,
    /// A provider refused the list as too long: it has to become shorter, whatever the threshold.
    pub overflow: bool,
    /// What a memory provider adds for the summary; it goes into the prompt as far as there is room.
    pub memory: Option<String>,
    /// What is to happen where the middle is shorter than the shortest handoff.
    pub gain: Gain,
    /// What the agent wishes for its messages.
    pub wishes: Wishes,
    /// Positions of messages that may leave, before the second one; where it is given, no others leave, however
    /// large the list is.
    pub range: Option<Range<usize>>,
    /// The session's nodes, for the engine that makes them.
    pub nodes: KnownNodes,
}

impl CompressRequest {
    /// What is known of the prompt that the list is a part of.
    pub fn prompt(&self) -> Prompt {
        Prompt { tokens: self.current_tokens, is_refused: self.overflow }
    }
}

/// What a caller knows of the prompt that a list is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its tokens; 0 and less count as absent.
    pub tokens: Option<i64>,
    /// The provider refused it as too long.
    pub is_refused: bool,
}

impl Prompt {
    /// One of so many tokens that nobody refused.
    pub fn of(tokens: Option<i64>) -> Self {
        Self { tokens, is_refused: false }
    }
}

/// Whether a compression must make the list shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// It need not: the handoff is made as short as it can be, and that is all.
    #[default]
    Any,
    /// It must, else it is declined.
    Required,
}

/// A date of the form `YYYY-MM-DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today(String);

/// A text that is no date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("today must be a date YYYY-MM-DD, got {0:?}")]
pub struct TodayError(pub String);

impl Today {
    /// Checks the form, the month and the day.
    pub fn parse(text: &str) -> Result<Self, TodayError> {
        let refused = || TodayError(text.chars().take(40).collect());
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 10
            && bytes.iter().enumerate().all(|(i, byte)| match i {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shaped {
            return Err(refused());
        }
        let number = |from: usize, to: usize| text.get(from..to).and_then(|t| t.parse::<u32>().ok());
        let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
            return Err(refused());
        };
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        if (1..=days).contains(&day) { Ok(Self(text.to_owned())) } else { Err(refused()) }
    }

    /// The date as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_dates_pass() {
        for good in ["2024-02-29", "2026-11-21", "2000-02-29"] {
            assert!(Today::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "2023-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-32", "26-01-01", "2026/01/01"]
        {
            assert!(Today::parse(bad).is_err(), "{bad}");
        }
    }
}
