//! The summarizers of a run, in order.

use herma_context::Engine;

use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::Main;

/// The summarizers of a run, and the current position.
#[derive(Debug, Clone)]
pub(super) struct SummarizerChain {
    kinds: Vec<Kind>,
    at: usize,
    /// The model for summaries; `None` if there is none or it was given up.
    pub model: Option<String>,
    /// The model and endpoint of the session's agent.
    pub main: Main,
    /// Whether the extractive summarizer replaces them if none writes a summary.
    pub has_fallback: bool,
}

impl SummarizerChain {
    /// Creates a chain at its first summarizer.
    pub(super) const fn new(kinds: Vec<Kind>, model: Option<String>, main: Main, has_fallback: bool) -> Self {
        Self { kinds, at: 0, model, main, has_fallback }
    }

    /// Returns the configured summarizer, which is the first.
    pub(super) fn configured(&self) -> Kind {
        self.kinds.first().copied().unwrap_or(Kind::Extractive)
    }

    /// Returns all summarizers.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the current summarizer.
    pub(super) fn current(&self) -> Option<Kind> {
        self.kinds.get(self.at).copied()
    }

    /// Moves on to the next summarizer.
    pub(super) const fn advance(&mut self) {
        self.at += 1;
    }

    /// Removes the summarizers that need a waiting client; `None` if the engine has no other left.
    pub(super) fn without_client(mut self, engine: Engine) -> Option<Self> {
        self.kinds.retain(|kind| *kind != Kind::Client);
        (!self.kinds.is_empty() || engine.needs_no_summarizer()).then_some(self)
    }

    /// Whether it has the same summarizers as another chain, except those that need a waiting client.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.kinds.iter().eq(other.kinds.iter().filter(|kind| **kind != Kind::Client))
    }

    /// Whether the next summary needs no other party and comes at once.
    pub(super) fn is_at_hand(&self) -> bool {
        self.current() == Some(Kind::Extractive)
    }
}
