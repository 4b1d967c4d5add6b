//! Recorded conversations of training data, made shorter to fit a number of tokens (offline).
//!
//! A [`Turn`] is `{from, value}`. [`plan()`] says which turns a summary is to replace: those
//! between the protected ones at the beginning and at the end, only as many as it takes, and never
//! a call without its responses. [`summary_input`] is what a summarizer reads, [`record`] what
//! stands in where no model writes, [`apply`] puts the new list together and measures it.

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

/// How text is counted that the caller did not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// A quarter of its chars, rounded down.
    #[default]
    Chars,
    /// By script.
    Script,
}

impl Count {
    /// Tokens of a text.
    pub fn tokens(self, text: &str) -> u64 {
        match self {
            Self::Chars => text.chars().count() as u64 / 4,
            Self::Script => own_estimate_text(text),
        }
    }
}
