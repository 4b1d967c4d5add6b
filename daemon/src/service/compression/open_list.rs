//! A list with opened parts during a compression, in both forms: with and without the parts.

use std::ops::Range;
use std::sync::Arc;

use herma_context::opened::{self, OpenedPart};
use herma_context::{Message, tokens};

/// A list that contains opened parts.
#[derive(Debug)]
pub(super) struct OpenList {
    parts: Vec<OpenedPart>,
    /// The list with the parts, if the caller gave it; `None` for the transcript.
    given: Option<Placed>,
}

/// A list with its opened parts.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// All messages.
    pub messages: Arc<[Message]>,
    /// For each message outside the parts, its position in `messages`, in order.
    pub places: Arc<[usize]>,
}

impl OpenList {
    /// Creates the list of a session's transcript with these parts.
    pub(super) const fn of_transcript(parts: Vec<OpenedPart>) -> Self {
        Self { parts, given: None }
    }

    /// Creates the list of given messages that may contain these parts.
    pub(super) fn of_list(parts: Vec<OpenedPart>, messages: Vec<Message>) -> Self {
        let given = Placed::of(messages, &parts);
        Self { parts, given: Some(given) }
    }

    /// Returns the given list without the parts, as JSON texts; `None` if none was given.
    pub(super) fn without_parts(&self) -> Option<Vec<String>> {
        let Placed { messages, places } = self.given.as_ref()?;
        Some(places.iter().filter_map(|&at| messages.get(at)).map(|message| message.raw().to_owned()).collect())
    }

    /// Returns the list with the parts, built from the one without them.
    pub(super) fn with_parts(&self, list: &[Message]) -> Placed {
        self.given.clone().unwrap_or_else(|| Placed::of(opened::with_parts(list, &self.parts), &self.parts))
    }

    /// Returns the estimated tokens of the parts that are in the list.
    pub(super) fn tokens(&self) -> u64 {
        match &self.given {
            Some(placed) => placed.tokens_of_parts(),
            None => self.parts.iter().map(|part| tokens::estimate_messages(&part.block())).sum(),
        }
    }

    /// Returns the ids of the parts' nodes.
    pub(super) fn nodes(&self) -> Vec<String> {
        self.parts.iter().map(|part| part.id.clone()).collect()
    }

    /// Converts positions of the given list into positions of the list without the parts.
    pub(super) fn range_without(&self, range: Range<usize>) -> Range<usize> {
        let without = |at: usize| match &self.given {
            Some(placed) => placed.places.partition_point(|place| *place < at),
            None => at,
        };
        without(range.start)..without(range.end)
    }
}

impl Placed {
    fn of(messages: Vec<Message>, parts: &[OpenedPart]) -> Self {
        let found = opened::find(&messages, parts);
        let is_own = |at: &usize| !found.iter().any(|(_, range)| range.contains(at));
        let places = (0..messages.len()).filter(is_own).collect();
        Self { messages: messages.into(), places }
    }

    fn tokens_of_parts(&self) -> u64 {
        let is_part = |at: &usize| self.places.binary_search(at).is_err();
        let parts = self.messages.iter().enumerate().filter(|(at, _)| is_part(at)).map(|(_, message)| message);
        tokens::Measure::of_all(parts).tokens()
    }
}
