//! A list as its caller sent it: in its own form, with its opened parts.

use std::sync::Arc;

use herma_context::engine::Slot;
use herma_context::forms::Translation;
use herma_context::{Message, tokens};

use super::open_list::OpenList;

/// A list as its caller sent it.
#[derive(Debug, Clone)]
pub(crate) struct SentList {
    /// The list with opened parts, in the form of chat completions.
    messages: Arc<[Message]>,
    /// The position in `messages` of each message that the engine got; `None` if no part is open.
    places: Option<Arc<[usize]>>,
    /// The translation of the list, if it needed one.
    translation: Option<Arc<Translation>>,
}

impl SentList {
    /// Creates it from the messages that the engine got.
    pub(super) fn of(
        messages: Arc<[Message]>,
        opened: Option<&OpenList>,
        translation: Option<Arc<Translation>>,
    ) -> Self {
        let placed = opened.map(|open| open.with_parts(&messages));
        let (messages, places) = placed.map_or((messages, None), |placed| (placed.messages, Some(placed.places)));
        Self { messages, places, translation }
    }

    /// Returns the list.
    pub(crate) fn list(&self) -> &[Message] {
        self.translation.as_deref().map_or(&*self.messages, Translation::items)
    }

    /// Returns the list in the form of chat completions.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns its estimated tokens.
    pub(crate) fn tokens(&self) -> u64 {
        tokens::estimate_messages(&*self.messages)
    }

    /// Returns the slots of a new list that is the same.
    pub(crate) fn unchanged(&self) -> Vec<Slot> {
        (0..self.list().len()).map(Slot::Kept).collect()
    }

    /// Returns the slots of the new list, converted from those of the engine.
    pub(crate) fn slots(&self, slots: &[Slot]) -> Vec<Slot> {
        let placed: Vec<Slot> = slots.iter().map(|slot| self.placed(slot)).collect();
        match &self.translation {
            Some(translation) => translation.slots(&placed, &self.messages),
            None => placed,
        }
    }

    /// Returns the position in the list of a message of the engine.
    pub(crate) fn position(&self, at: usize) -> usize {
        let at = self.place(at);
        self.translation.as_ref().map_or(at, |translation| translation.item_of(at))
    }

    /// Returns how many of its last entries correspond to the engine's last messages.
    pub(crate) fn last(&self, messages: usize) -> usize {
        match &self.translation {
            Some(translation) => translation.last(messages).len(),
            None => messages,
        }
    }

    fn place(&self, at: usize) -> usize {
        let places = self.places.as_deref();
        places.map_or(at, |places| places.get(at).copied().unwrap_or(self.messages.len()))
    }

    fn placed(&self, slot: &Slot) -> Slot {
        match slot {
            Slot::Kept(at) => Slot::Kept(self.place(*at)),
            Slot::Replaced { index, message } => Slot::Replaced { index: self.place(*index), message: message.clone() },
            Slot::Inserted(message) => Slot::Inserted(message.clone()),
        }
    }
}
