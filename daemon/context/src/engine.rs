//! The interface between the daemon and an engine, which shortens lists.
//!
//! An engine decides and assembles; it does no I/O. It names the work of the daemon: a summary to write
//! ([`Prepared::request`]), outputs to store outside the list ([`Prepared::spills`]), messages that leave the
//! list ([`Compressed::removed`]). The daemon then passes the results to the engine. The memory of an engine
//! about a session between two calls is an [`EngineState`], which the daemon stores.

mod prepared;

use std::ops::Range;

pub use prepared::Prepared;
use prepared::Run;

use crate::compressor;
pub use crate::handoff::{Section, SectionKind};
use crate::lossless;
use crate::message::Message;
pub use crate::request::{CompressRequest, Focus, Gain, PlanRequest, Prompt, Today, TodayError};
pub use crate::run::{
    ArchiveNote, AuxFailure, Compressed, EngineState, MAX_INEFFECTIVE, Numbers, Over, OverPart, Part, Place, Plan,
    Rejection, Removed, RunNotes, Scored, Spill, Summary, SummaryRequest, Writer,
};
pub use crate::settings::Engine;
use crate::settings::Settings;
pub use crate::slot::Slot;

/// Everything in which engines differ. Other code knows only their names.
impl Engine {
    /// Whether the engine writes the summary itself, without a summarizer.
    pub const fn needs_no_summarizer(self) -> bool {
        matches!(self, Self::Lossless)
    }

    /// Whether anything in the list can be replaced. This is a quick check: the run may find that it gains
    /// nothing.
    pub fn has_content(self, messages: &[Message], settings: &Settings) -> bool {
        match self {
            Self::Compressor => compressor::has_content(messages, settings),
            Self::Lossless => compressor::has_content(messages, &lossless::settings(settings)),
        }
    }

    /// Whether a run that has to gain something would change the list. `current_tokens` is as in a
    /// compression request.
    pub fn has_work(self, messages: &[Message], settings: &Settings, current_tokens: Option<i64>) -> bool {
        match self {
            Self::Compressor => compressor::has_work(messages, settings, current_tokens),
            Self::Lossless => compressor::has_work(messages, &lossless::settings(settings), current_tokens),
        }
    }

    /// Returns what a run would do. Every list and every window has a plan.
    pub fn plan(self, messages: &[Message], settings: &Settings, request: &PlanRequest) -> Plan {
        match self {
            Self::Compressor => compressor::plan(messages, settings, request),
            Self::Lossless => compressor::plan(messages, &lossless::settings(settings), request),
        }
    }

    /// Decides which part of the list to replace, and declines if there is none. Calls `leaving` at most
    /// once, as early as possible, with the longest range of messages that certainly leave the list.
    pub fn prepare(
        self,
        messages: &[Message],
        settings: &Settings,
        state: &EngineState,
        request: &CompressRequest,
        leaving: impl FnOnce(Range<usize>),
    ) -> Result<Prepared, Rejection> {
        match self {
            Self::Compressor => compressor::prepare_and(messages, settings, state, request, leaving)
                .map(|run| Prepared(Run::Compressor(Box::new(run)))),
            Self::Lossless => lossless::prepare(messages, settings, state, request, leaving)
                .map(|run| Prepared(Run::Lossless(Box::new(run)))),
        }
    }

    /// Returns what keeps an unchanged list over the threshold; `None` if it is below.
    pub fn over(self, messages: &[Message], settings: &Settings, prompt: Prompt) -> Option<Over> {
        match self {
            Self::Compressor => compressor::over(messages, settings, prompt),
            Self::Lossless => compressor::over(messages, &lossless::settings(settings), prompt),
        }
    }
}
