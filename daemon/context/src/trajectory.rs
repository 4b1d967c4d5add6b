//! Recorded conversations of training data, shortened to fit a number of tokens (offline).
//!
//! A [`Turn`] is `{from, value}`. [`plan()`] selects the turns that a summary replaces. They are between the
//! protected ones at the beginning and at the end, only as many as needed, and never a call without its
//! responses. [`summary_input`] is the summarizer's input. [`record`] replaces the summary if no model writes
//! one. [`apply`] assembles the new list and measures it.

mod apply;
pub mod config;
mod plan;
mod record;
mod retry;
mod summary;
mod turn;

#[cfg(test)]
mod tests;

pub use apply::{Calls, Compressed, Row, apply, unchanged};
pub use config::{Config, ConfigError};
pub use plan::{Plan, Skip, plan, snap};
pub use record::record;
pub use retry::backoff_s;
pub use summary::{FAILED, PREFIX, prompt, summary_input, summary_text};
pub use turn::{From, Turn, TurnError};

use crate::tokens::own_estimate_text;

/// How tokens are counted if the caller did not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// A quarter of its chars, rounded down.
    #[default]
    Chars,
    /// By script.
    Script,
}

impl Count {
    /// Returns the tokens of a text.
    pub fn tokens(self, text: &str) -> u64 {
        match self {
            Self::Chars => text.chars().count() as u64 / 4,
            Self::Script => own_estimate_text(text),
        }
    }
}
