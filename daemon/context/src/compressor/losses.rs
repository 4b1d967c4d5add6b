//! What the kept outputs lose in a run. They stay in the list, so they are no turns of its summary, and in the next run
//! they are already short.

use super::layout::Layout;
use crate::message::{Message, Role};
use crate::persisted;
use crate::prune;
use crate::redaction::Redaction;
use crate::text::head;

/// Returns the kept outputs that become shorter, without secrets, each with the text that is left.
pub(super) fn losses(input: &[Message], layout: &Layout, redaction: Redaction) -> Vec<(Message, String)> {
    let shortened = layout.stays().filter_map(|at| {
        let whole = input.get(at)?;
        let left = left_of(at, whole, layout)?;
        Some((redaction.message(&persisted::without_frame(whole)), left))
    });
    shortened.collect()
}

/// Returns the text that is left of a kept output, if it becomes shorter. An output that is still in the list elsewhere
/// loses nothing, and neither does one that the caller discarded.
fn left_of(at: usize, whole: &Message, layout: &Layout) -> Option<String> {
    if !whole.is(Role::Tool) || layout.discarded.binary_search(&at).is_ok() {
        return None;
    }
    let pruned = layout.pruned.get(at)?;
    match layout.spilled.iter().find(|spilled| spilled.at == at) {
        Some(preview) => Some(head(&whole.text(), preview.chars).to_owned()),
        None if pruned.same(whole) || pruned.text() == prune::DUPLICATE => None,
        None => Some(pruned.text().into_owned()),
    }
}
