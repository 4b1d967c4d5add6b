//! The pure context engine: shortens a long conversation without losing its thread.
//!
//! No I/O, no clock, no randomness: the same messages, settings and state give the same result,
//! and nothing that is passed in is changed.
//!
//! * [`Message`]: one chat message, its text kept byte for byte
//! * [`tokens`]: estimates and budget lengths
//! * [`forms`]: lists of other providers, read as chat completions and written again
//! * [`mod@usage`]: what a call took, as the provider reports it
//! * [`mod@pressure`]: how full that makes the window, and when to say so
//! * [`Settings`], [`Budgets`]: what a session has configured
//! * [`mod@engine`]: what the daemon asks of an engine, and what it gets back
//! * [`provider_error`]: what a provider's error is about, and the window that it names
//! * [`mod@cache`]: what a compression costs and saves where prompts are cached
//! * [`mod@ledger`]: what changes of a window cost and save
//! * [`cache_control`], [`manual`]: marks for a prompt cache; a compression by hand
//! * [`compressor`]: the engine that replaces the middle of a list by one summary
//! * [`lossless`]: the engine that replaces it by a map of parts that can be opened
//! * [`mod@fingerprint`]: what a message is known by; [`mod@pins`]: messages that stay whatever leaves;
//!   [`mod@discards`]: outputs that the agent is done with; [`mod@opened`]: parts that stand in the list again
//! * [`trajectory`]: recorded conversations, made shorter offline
//! * the policies round it: [`breaker`] (whether to run), [`outcome`] (what a failed call leads to),
//!   [`mod@fit`] (what a summarizer can read at once), [`mod@check`] (what a summary has to pass)
//! * [`mod@work`]: what the conversation is about, by exact names
//! * [`mod@ask`]: a question about a part of it, answered with quotations
//! * [`mod@importance`]: what each message is worth to what comes after it; [`mod@superseded`]: which outputs are old
//! * the steps: [`boundary`], [`prune`], [`serialize`], [`prompt`], [`handoff`], [`rehydrate`],
//!   [`extractive`], [`anchors`], [`user_messages`], [`constraints`], [`pairs`], [`images`], [`focus`], [`savings`]

mod failure;
pub mod fingerprint;
mod hash;
mod json;
mod message;
mod node;
mod parallel;
mod pattern;
mod persisted;
mod redaction;
mod replaced;
mod request;
mod run;
mod sentences;
mod settings;
mod slot;
#[cfg(test)]
mod testing;
mod text;

pub mod anchors;
pub mod ask;
pub mod boundary;
pub mod breaker;
pub mod cache;
pub mod cache_control;
pub mod check;
pub mod compressor;
pub mod constants;
pub mod constraints;
pub mod discards;
pub mod engine;
pub mod episodes;
pub mod extractive;
pub mod fit;
pub mod focus;
pub mod forms;
pub mod handoff;
pub mod images;
pub mod importance;
pub mod ledger;
pub mod lossless;
pub mod manual;
pub mod opened;
pub mod outcome;
pub mod pairs;
pub mod pins;
pub mod pressure;
pub mod prompt;
pub mod provider_error;
pub mod prune;
pub mod rehydrate;
pub mod savings;
pub mod serialize;
pub mod superseded;
pub mod tokens;
pub mod tools;
pub mod trajectory;
pub mod usage;
pub mod user_messages;
pub mod wishes;
pub mod work;

pub use pattern::forget_searches;
use pattern::pattern;

pub use constants::{Constants, constants};
pub use message::{Message, MessageError, Role, ToolCall};
pub use redaction::Redaction;
pub use settings::{Budgets, Detail, Engine, Host, MIN_CONTEXT, RawSettings, Settings, SettingsError};
pub use usage::Usage;
