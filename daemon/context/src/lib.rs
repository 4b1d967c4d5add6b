//! The pure context engine: shortens a long conversation without losing its thread.
//!
//! No I/O, no clock, no randomness: the same messages, settings and state give the same result,
//! and nothing that is passed in is changed.
//!
//! * [`Message`]: one chat message, its text kept byte for byte
//! * [`tokens`]: estimates and budget lengths
//! * [`mod@usage`]: what a call took, as the provider reports it
//! * [`mod@pressure`]: how full that makes the window, and when to say so
//! * [`Settings`], [`Budgets`], [`EngineState`]: what a session has configured and remembers
//! * [`provider_error`]: what a provider's error is about, and the window that it names
//! * [`cache_control`], [`manual`]: marks for a prompt cache; a compression by hand
//! * [`plan()`]: a dry run
//! * [`prepare`], then [`Prepared::finish`]: a compression in two phases, so that a model can
//!   write the summary between them
//! * [`trajectory`]: recorded conversations, made shorter offline
//! * the policies round it: [`breaker`] (whether to run), [`outcome`] (what a failed call leads to),
//!   [`mod@fit`] (what a summarizer can read at once), [`mod@check`] (what a summary has to pass)
//! * the steps: [`boundary`], [`prune`], [`serialize`], [`prompt`], [`handoff`], [`rehydrate`],
//!   [`extractive`], [`anchors`], [`user_messages`], [`constraints`], [`pairs`], [`images`], [`focus`], [`savings`]

mod hash;
mod json;
mod message;
mod parallel;
mod redaction;
mod request;
mod sentences;
mod settings;
mod state;
#[cfg(test)]
mod testing;
mod text;

pub mod anchors;
pub mod boundary;
pub mod breaker;
pub mod cache_control;
pub mod check;
pub mod compress;
pub mod constants;
pub mod constraints;
pub mod extractive;
pub mod fit;
pub mod focus;
pub mod handoff;
pub mod images;
pub mod manual;
pub mod outcome;
pub mod pairs;
pub mod plan;
pub mod pressure;
pub mod prompt;
pub mod provider_error;
pub mod prune;
pub mod rehydrate;
pub mod savings;
pub mod serialize;
pub mod tokens;
pub mod trajectory;
pub mod usage;
pub mod user_messages;

pub use compress::{
    ArchiveNote, Compressed, Declined, Numbers, Over, OverPart, Part, Prepared, Removed, Section, SectionKind, Slot,
    Spill, Summary, SummaryRequest, Writer, has_work, prepare, prepare_and,
};
pub use constants::{Constants, constants};
pub use message::{Message, MessageError, Role, ToolCall};
pub use plan::{Plan, plan};
pub use redaction::Redaction;
pub use request::{CompressRequest, Focus, Gain, PlanRequest, Prompt, Today, TodayError};
pub use settings::{Budgets, MIN_CONTEXT, RawSettings, Settings, SettingsError};
pub use state::{AuxFailure, EngineState, MAX_INEFFECTIVE};
pub use usage::Usage;

/// A pattern that is part of the source.
#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
fn pattern(source: &str) -> regex::Regex {
    regex::Regex::new(source).expect("a valid pattern")
}
