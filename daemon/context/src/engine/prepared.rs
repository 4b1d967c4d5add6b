//! A run that only lacks its summary, whatever engine prepared it.

use herma_guard::Policy;

use crate::check::{Checked, Refused};
use crate::compressor;
use crate::constraints::Update;
use crate::lossless;
use crate::message::Message;
use crate::request::CompressRequest;
use crate::run::{ArchiveNote, Compressed, EngineState, Spill, Summary, SummaryRequest};

/// A run that only lacks its summary. It owns all it needs and can be kept for later.
pub struct Prepared(pub(super) Run);

/// The run of one of the engines.
pub(super) enum Run {
    Compressor(Box<compressor::Prepared>),
    Lossless(Box<lossless::Prepared>),
}

impl Prepared {
    /// What all engines have in common: what leaves the list and what stays is decided in one way.
    fn base(&self) -> &compressor::Prepared {
        match &self.0 {
            Run::Compressor(run) => run,
            Run::Lossless(run) => &run.base,
        }
    }

    /// The messages that were prepared.
    pub fn input(&self) -> &[Message] {
        self.base().input()
    }

    /// Whether a summary is to be written by somebody. Without one the list only becomes a shorter form of
    /// itself, or the engine writes what stands for it; then [`Self::finish`] looks at no summary.
    pub fn needs_summary(&self) -> bool {
        match &self.0 {
            Run::Compressor(run) => run.needs_summary(),
            Run::Lossless(_) => false,
        }
    }

    /// Whether the engine writes what stands for the messages that leave, and asks nobody.
    pub fn writes_itself(&self) -> bool {
        matches!(self.0, Run::Lossless(_))
    }

    /// Whether it may wait for a list that has grown by then: nothing of it depends on how little
    /// room there is.
    pub fn is_ordinary(&self) -> bool {
        self.base().is_ordinary()
    }

    /// What to ask a model. An empty prompt says that an earlier summary covers everything.
    pub fn request(&self) -> SummaryRequest {
        self.base().request()
    }

    /// What to ask a model that reads so many tokens at once, prompt and answer together, and how
    /// many turns were left out for that. None when not even the instructions fit.
    pub fn request_within(&self, window_tokens: u64) -> Option<(SummaryRequest, usize)> {
        self.base().request_within(window_tokens)
    }

    /// See [`compressor::Prepared::request_behind`](crate::compressor::Prepared::request_behind).
    pub fn request_behind(&self, window_tokens: Option<u64>) -> Option<SummaryRequest> {
        self.base().request_behind(window_tokens)
    }

    /// A summary without a model; `failure` tells why it stands in for one.
    pub fn extractive_summary(&self, failure: Option<&str>) -> String {
        self.base().extractive_summary(failure)
    }

    /// Checks what a model wrote, and repairs it where that is possible.
    pub fn check(&self, body: &str, policy: &Policy) -> Result<Checked, Refused> {
        self.base().check(body, policy)
    }

    /// The same for [`Self::extractive_summary`], for which nothing can stand in: what can't be
    /// repaired is let through with a warning.
    pub fn repaired(&self, body: String, policy: &Policy) -> Checked {
        self.base().repaired(body, policy)
    }

    /// Writes what the engine writes itself, and checks it; what the checks have to say of that. To be called
    /// once, before [`Self::finish`].
    pub fn write_own(&mut self, policy: &Policy) -> Vec<String> {
        match &mut self.0 {
            Run::Compressor(_) => Vec::new(),
            Run::Lossless(run) => {
                run.write(policy);
                run.warnings()
            }
        }
    }

    /// The session's rules, brought up to date by the messages.
    pub fn constraints(&self) -> &Update {
        self.base().constraints()
    }

    /// Chars that the whole handoff may take.
    pub fn handoff_chars(&self) -> usize {
        self.base().handoff_chars()
    }

    /// Outputs that are to be kept elsewhere before [`Self::finish`], in their order.
    pub fn spills(&self) -> Vec<Spill> {
        self.base().spills()
    }

    /// Takes messages that came after the prepared ones: they stay in the list as they are. What
    /// the request says of the size counts, and what the session remembers by now.
    #[must_use]
    pub fn continued(self, more: Vec<Message>, state: &EngineState, request: &CompressRequest) -> Self {
        Self(match self.0 {
            Run::Compressor(run) => Run::Compressor(Box::new(run.continued(more, state, request))),
            Run::Lossless(run) => Run::Lossless(Box::new(run.continued(more, state, request))),
        })
    }

    /// Whether what was decided still serves a list that has grown.
    pub fn fits(&self) -> bool {
        self.base().fits()
    }

    /// Puts the new list together around a summary. `handle` names what leaves the list in the
    /// archive; `preview` is asked for the preview of the spilled message at an index with so many
    /// chars of its text, and where there is none the message is cut.
    pub fn finish(
        self,
        summary: Summary,
        handle: String,
        preview: &dyn Fn(usize, usize) -> Option<String>,
    ) -> Compressed {
        let note = ArchiveNote { handle, messages: self.base().dropped() };
        match self.0 {
            Run::Compressor(run) => run.finish_with(summary, note, preview),
            Run::Lossless(run) => run.finish_with(note, preview),
        }
    }
}
