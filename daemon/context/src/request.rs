//! Parameters of a plan or a compression.

use std::ops::Range;

use crate::constraints::Constraint;
use crate::node::SessionNodes;
use crate::wishes::MessageRequests;

/// The topic that the summary should favour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The newest user messages, if there are any.
    #[default]
    Auto,
    /// No topic.
    Off,
    /// This topic.
    Topic(String),
}

/// Parameters of [`Engine::plan`](super::Engine::plan).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// The topic that the summary should favour.
    pub focus: Focus,
    /// The session's summary so far.
    pub previous_summary: Option<String>,
    /// As in [`EngineState::has_scattered_handoffs`](crate::engine::EngineState::has_scattered_handoffs).
    pub has_scattered_handoffs: bool,
    /// Today in the user's time zone.
    pub today: Option<Today>,
    /// The agent's requests about its messages.
    pub wishes: MessageRequests,
    /// As in [`CompressRequest::range`].
    pub range: Option<Range<usize>>,
}

/// Parameters of [`Engine::prepare`](super::Engine::prepare).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompressRequest {
    /// The topic that the summary should favour.
    pub focus: Focus,
    /// Today in the user's time zone.
    pub today: Option<Today>,
    /// The size of the prompt in tokens, as far as the caller knows; 0 and less count as absent.
    pub current_tokens: Option<i64>,
    /// The session's rules, also those that no longer apply.
    pub constraints: Vec<Constraint>,
    /// The time of the run, in Unix seconds; new rules get this date.
    pub now: f64,
    /// A provider refused the list as too long, so it must become shorter, whatever the threshold.
    pub overflow: bool,
    /// Text from a memory provider for the summary; it goes into the prompt if there is room.
    pub memory: Option<String>,
    /// Whether the list must become shorter if the middle is shorter than the shortest handoff.
    pub gain: Gain,
    /// The agent's requests about its messages.
    pub wishes: MessageRequests,
    /// Positions of the messages that may leave, the end excluded. If set, no others leave, however large the
    /// list is.
    pub range: Option<Range<usize>>,
    /// The session's nodes, for the engine that creates them.
    pub nodes: SessionNodes,
}

impl CompressRequest {
    /// Returns what is known of the prompt that contains the list.
    pub fn prompt(&self) -> Prompt {
        Prompt { tokens: self.current_tokens, is_refused: self.overflow }
    }
}

/// The caller's knowledge of the prompt that contains a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The size in tokens; 0 and less count as absent.
    pub tokens: Option<i64>,
    /// Whether the provider refused it as too long.
    pub is_refused: bool,
}

impl Prompt {
    /// Returns a prompt of so many tokens that was not refused.
    pub fn of(tokens: Option<i64>) -> Self {
        Self { tokens, is_refused: false }
    }
}

/// Whether a compression must make the list shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// No. The handoff merely becomes as short as possible.
    #[default]
    Any,
    /// Yes, otherwise the run is declined.
    Required,
}

/// A date of the form `YYYY-MM-DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today(String);

/// The error for a text that is not a date.
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

    /// Returns the date as given.
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
