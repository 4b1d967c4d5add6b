//! The pure context engine: shortens a long conversation without losing its thread.
//!
//! It has no I/O, no clock and no randomness. The same messages, settings and state give the same result, and
//! no input is changed.
//!
//! * [`Message`]: one chat message, its text kept byte for byte
//! * [`tokens`]: estimates and budget lengths
//! * [`forms`]: lists of other providers, read as chat completions and written back
//! * [`mod@usage`]: the tokens of a call, as the provider reports them
//! * [`mod@pressure`]: how full the window is, and when to report it
//! * [`Settings`], [`Budgets`]: the configuration of a session
//! * [`mod@engine`]: the interface between the daemon and an engine
//! * [`provider_error`]: the cause of a provider's error, and the window size in it
//! * [`mod@cache`]: the cost and savings of a compression where prompts are cached
//! * [`mod@ledger`]: the cost and savings of changes of a window
//! * [`cache_control`], [`manual`]: marks for a prompt cache; a compression by hand
//! * [`compressor`]: the engine that replaces the middle of a list with one summary
//! * [`lossless`]: the engine that replaces it with a map of parts that can be opened
//! * [`mod@fingerprint`]: the identity of a message; [`mod@pins`]: messages that never leave;
//!   [`mod@discards`]: outputs that the agent no longer needs; [`mod@opened`]: parts that are in the list
//!   again
//! * [`trajectory`]: recorded conversations, shortened offline
//! * policies: [`breaker`] (whether to run), [`outcome`] (the reaction to a failed call), [`mod@fit`] (how
//!   much a summarizer can read at once), [`mod@check`] (the checks of a summary)
//! * [`mod@work`]: the subjects of the conversation, as exact names
//! * [`mod@ask`]: a question about a part of it, answered with quotations
//! * [`mod@importance`]: the importance of each message for later ones; [`mod@superseded`]: outdated outputs
//! * the steps: [`boundary`], [`prune`], [`serialize`], [`prompt`], [`handoff`], [`rehydrate`],
//!   [`extractive`], [`anchors`], [`user_messages`], [`constraints`], [`pairs`], [`images`], [`focus`],
//!   [`savings`]

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

pub use pattern::free_search_caches;
use pattern::pattern;

pub use constants::{Constants, constants};
pub use message::{Message, MessageError, Role, ToolCall};
pub use redaction::{Capture, CaptureCounts, Redaction, Scrub};
pub use settings::{Budgets, Detail, Engine, Host, MIN_CONTEXT, RawSettings, Settings, SettingsError};
pub use usage::Usage;
