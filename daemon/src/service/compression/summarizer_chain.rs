//! The summarizers of a run, in the order in which they are asked.

use herma_context::Engine;

use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::Main;

/// The summarizers of a run, and how far it came with them.
#[derive(Debug, Clone)]
pub(super) struct SummarizerChain {
    kinds: Vec<Kind>,
    at: usize,
    /// The model that is set for summaries, unless it was left.
    pub model: Option<String>,
    /// What the session's agent uses itself.
    pub main: Main,
    /// The extractive one stands in where none of them writes a summary.
    pub has_stand_in: bool,
}

impl SummarizerChain {
    /// A chain at its beginning.
    pub(super) const fn new(kinds: Vec<Kind>, model: Option<String>, main: Main, has_stand_in: bool) -> Self {
        Self { kinds, at: 0, model, main, has_stand_in }
    }

    /// The one that is configured: the first.
    pub(super) fn configured(&self) -> Kind {
        self.kinds.first().copied().unwrap_or(Kind::Extractive)
    }

    /// All of them.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The one to ask now.
    pub(super) fn current(&self) -> Option<Kind> {
        self.kinds.get(self.at).copied()
    }

    /// Goes on to the next one.
    pub(super) const fn advance(&mut self) {
        self.at += 1;
    }

    /// Without those that need somebody who waits; `None` when nobody is left whom the engine would ask.
    pub(super) fn without_client(mut self, engine: Engine) -> Option<Self> {
        self.kinds.retain(|kind| *kind != Kind::Client);
        (!self.kinds.is_empty() || engine.writes_itself()).then_some(self)
    }

    /// Whether it has the summarizers of another one but those that need somebody who
    /// waits.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.kinds.iter().eq(other.kinds.iter().filter(|kind| **kind != Kind::Client))
    }

    /// Whether the next summary needs no one else and comes at once.
    pub(super) fn is_at_hand(&self) -> bool {
        self.current() == Some(Kind::Extractive)
    }
}
