//! The plan of a list in another form than the engine's, in terms of the caller's items.

use herma_context::Message;
use herma_context::engine::{Plan, Slot};
use herma_context::forms::Translation;
use herma_context::importance::Importance;
use herma_context::superseded::Superseded;

/// Converts a plan into one of the items. `messages` are those that the engine got.
pub(super) fn of_items(plan: Plan, translation: &Translation, messages: &[Message]) -> Plan {
    let slot = |(index, (message, planned)): (usize, (&Message, &Message))| {
        if message.raw() == planned.raw() {
            Slot::Kept(index)
        } else {
            Slot::Replaced { index, message: planned.clone() }
        }
    };
    let slots: Vec<Slot> = messages.iter().zip(&plan.messages).enumerate().map(slot).collect();
    let items = translation.items();
    let slots = translation.slots(&slots, messages);
    let superseded = |old: &Superseded| {
        let (index, by) = (translation.item_of(old.index), translation.item_of(old.by));
        Superseded { index, by, ..*old }
    };
    Plan {
        start: translation.item_of(plan.start),
        end: translation.item_of(plan.end),
        messages: slots.iter().filter_map(|slot| slot.message(items).cloned()).collect(),
        scores: (0..items.len()).map(|item| score(item, translation, &plan.scores)).collect(),
        superseded: plan.superseded.iter().map(superseded).collect(),
        ..plan
    }
}

/// Returns the score of an item: that of its best message.
fn score(item: usize, translation: &Translation, scores: &[Importance]) -> Importance {
    let own = scores.get(translation.messages_of(item)).unwrap_or_default();
    own.iter().max_by_key(|one| one.score).cloned().unwrap_or_default()
}
