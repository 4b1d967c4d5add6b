//! What the daemon asks of an engine, and what it gets back: the seam behind which lists become
//! shorter.
//!
//! An engine decides and assembles; it does no I/O. It names what the daemon has to do: a summary to
//! be written ([`Prepared::request`]), outputs to be kept elsewhere ([`Prepared::spills`]), messages
//! that leave the list ([`Compressed::removed`]). The daemon comes back with what came of that. What
//! an engine remembers of a session between two calls is an [`EngineState`], which the daemon keeps.

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
    ArchiveNote, AuxFailure, Compressed, Declined, EngineState, MAX_INEFFECTIVE, Numbers, Over, OverPart, Part, Place,
    Plan, Removed, RunNotes, Scored, Spill, Summary, SummaryRequest, Writer,
};
pub use crate::settings::Engine;
use crate::settings::Settings;
pub use crate::slot::Slot;

/// Every question that engines answer differently, and the only place that knows more of them than
/// their names.
impl Engine {
    /// Whether it writes itself what stands for the messages that leave, and asks nobody.
    pub const fn writes_itself(self) -> bool {
        matches!(self, Self::Lossless)
    }

    /// Whether anything in the list can be replaced at all. A glance: the run may find that it
    /// gains nothing.
    pub fn has_content(self, messages: &[Message], settings: &Settings) -> bool {
        match self {
            Self::Compressor => compressor::has_content(messages, settings),
            Self::Lossless => compressor::has_content(messages, &lossless::settings(settings)),
        }
    }

    /// Whether a run that has to gain something would change the list. `current_tokens` as in a
    /// request for one.
    pub fn has_work(self, messages: &[Message], settings: &Settings, current_tokens: Option<i64>) -> bool {
        match self {
            Self::Compressor => compressor::has_work(messages, settings, current_tokens),
            Self::Lossless => compressor::has_work(messages, &lossless::settings(settings), current_tokens),
        }
    }

    /// What a run would do. There is an answer for every list and every window.
    pub fn plan(self, messages: &[Message], settings: &Settings, request: &PlanRequest) -> Plan {
        match self {
            Self::Compressor => compressor::plan(messages, settings, request),
            Self::Lossless => compressor::plan(messages, &lossless::settings(settings), request),
        }
    }

    /// Decides what of the list is to be replaced, and declines if that is nothing. `leaving` is
    /// told, at most once and as soon as it is known, the longest range of messages that leave the
    /// list for sure.
    pub fn prepare(
        self,
        messages: &[Message],
        settings: &Settings,
        state: &EngineState,
        request: &CompressRequest,
        leaving: impl FnOnce(Range<usize>),
    ) -> Result<Prepared, Declined> {
        match self {
            Self::Compressor => compressor::prepare_and(messages, settings, state, request, leaving)
                .map(|run| Prepared(Run::Compressor(Box::new(run)))),
            Self::Lossless => lossless::prepare(messages, settings, state, request, leaving)
                .map(|run| Prepared(Run::Lossless(Box::new(run)))),
        }
    }

    /// What keeps a list over the threshold that comes back as it is; nothing if it is below.
    pub fn over(self, messages: &[Message], settings: &Settings, prompt: Prompt) -> Option<Over> {
        match self {
            Self::Compressor => compressor::over(messages, settings, prompt),
            Self::Lossless => compressor::over(messages, &lossless::settings(settings), prompt),
        }
    }
}
