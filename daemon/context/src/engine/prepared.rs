//! A run that only lacks its summary, common to all engines.

use herma_guard::Policy;

use crate::check::{Checked, Refused};
use crate::compressor;
use crate::constraints::Update;
use crate::lossless;
use crate::message::Message;
use crate::request::CompressRequest;
use crate::run::{ArchiveNote, Compressed, EngineState, Spill, Summary, SummaryRequest};

/// A run that only lacks its summary. It owns all its data and can be kept for later.
pub struct Prepared(pub(super) Run);

/// The run of one of the engines.
pub(super) enum Run {
    Compressor(Box<compressor::Prepared>),
    Lossless(Box<lossless::Prepared>),
}

impl Prepared {
    /// Returns the part common to all engines, which decides which messages leave.
    fn base(&self) -> &compressor::Prepared {
        match &self.0 {
            Run::Compressor(run) => run,
            Run::Lossless(run) => &run.base,
        }
    }

    /// Returns the messages that were prepared.
    pub fn input(&self) -> &[Message] {
        self.base().input()
    }

    /// Whether a summarizer must write a summary. It need not if the list only becomes shorter, or if the
    /// engine writes the summary itself; then [`Self::finish`] ignores the summary.
    pub fn needs_summary(&self) -> bool {
        match &self.0 {
            Run::Compressor(run) => run.needs_summary(),
            Run::Lossless(_) => false,
        }
    }

    /// Whether the engine writes the summary itself, without a summarizer.
    pub fn needs_no_summarizer(&self) -> bool {
        matches!(self.0, Run::Lossless(_))
    }

    /// Whether it may be kept for a list that has grown by then, because nothing in it depends on how little
    /// room there is.
    pub fn is_ordinary(&self) -> bool {
        self.base().is_ordinary()
    }

    /// Returns the request for a model. An empty prompt means that an earlier summary covers everything.
    pub fn request(&self) -> SummaryRequest {
        self.base().request()
    }

    /// Returns the request for a model whose window, for prompt and answer together, has so many tokens, and
    /// how many turns were left out. Returns `None` if not even the instructions fit.
    pub fn request_within(&self, window_tokens: u64) -> Option<(SummaryRequest, usize)> {
        self.base().request_within(window_tokens)
    }

    /// See [`compressor::Prepared::request_behind`](crate::compressor::Prepared::request_behind).
    pub fn request_behind(&self, window_tokens: Option<u64>) -> Option<SummaryRequest> {
        self.base().request_behind(window_tokens)
    }

    /// Writes a summary without a model; `failure` is the reason if a model failed.
    pub fn extractive_summary(&self, failure: Option<&str>) -> String {
        self.base().extractive_summary(failure)
    }

    /// Checks a model's summary, and repairs it where possible.
    pub fn check(&self, body: &str, policy: &Policy) -> Result<Checked, Refused> {
        self.base().check(body, policy)
    }

    /// Does the same for [`Self::extractive_summary`], which has no substitute: a summary that can't be
    /// repaired passes with a warning.
    pub fn repaired(&self, body: String, policy: &Policy) -> Checked {
        self.base().repaired(body, policy)
    }

    /// Writes the engine's own summary, and returns the warnings of its checks. Must be called once, before
    /// [`Self::finish`].
    pub fn write_summary(&mut self, policy: &Policy) -> Vec<String> {
        match &mut self.0 {
            Run::Compressor(_) => Vec::new(),
            Run::Lossless(run) => {
                run.write(policy);
                run.warnings()
            }
        }
    }

    /// Returns the session's rules, updated from the messages.
    pub fn constraints(&self) -> &Update {
        self.base().constraints()
    }

    /// Returns the most chars of the whole handoff.
    pub fn handoff_chars(&self) -> usize {
        self.base().handoff_chars()
    }

    /// Returns the outputs to store outside the list before [`Self::finish`], in order.
    pub fn spills(&self) -> Vec<Spill> {
        self.base().spills()
    }

    /// Adds messages that came after the prepared ones; they stay in the list unchanged. The size comes from
    /// the new request, and the memory from the session's present state.
    #[must_use]
    pub fn continued(self, more: Vec<Message>, state: &EngineState, request: &CompressRequest) -> Self {
        Self(match self.0 {
            Run::Compressor(run) => Run::Compressor(Box::new(run.continued(more, state, request))),
            Run::Lossless(run) => Run::Lossless(Box::new(run.continued(more, state, request))),
        })
    }

    /// Whether the decision still suits a list that has grown.
    pub fn fits(&self) -> bool {
        self.base().fits()
    }

    /// Assembles the new list around a summary. `handle` names the leaving messages in the archive. `preview`
    /// returns the preview of the spilled message at an index, with so many chars of its text; without a
    /// preview the message is cut.
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
