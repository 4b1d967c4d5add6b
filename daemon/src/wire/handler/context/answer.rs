//! The new list, whole or as what changed.

use herma_context::{Message, Slot};
use herma_protocol::Json;
use herma_protocol::context::{Edits, Insert, Replace, ReplyForm};

use super::wire_message;
use crate::data::error::{Error, Outcome};
use crate::wire::handler::wide;

/// The list or the edits, whichever was asked for.
pub(super) type Answer = (Option<Vec<Json>>, Option<Edits>);

pub(super) fn answer(slots: &[Slot], input: &[Message], form: ReplyForm) -> Outcome<Answer> {
    match form {
        ReplyForm::Messages => {
            let messages = slots.iter().map(|slot| match slot {
                Slot::Kept(index) => {
                    input.get(*index).ok_or_else(|| Error::internal("context.compress")).and_then(wire_message)
                }
                Slot::Replaced { message, .. } | Slot::Inserted(message) => wire_message(message),
            });
            Ok((Some(messages.collect::<Outcome<_>>()?), None))
        }
        ReplyForm::Edits => edits(slots, input.len()).map(|edits| (None, Some(edits))),
    }
}

/// The input as it came.
pub(super) fn unchanged(input: &[Message], form: ReplyForm) -> Outcome<Answer> {
    let kept: Vec<Slot> = (0..input.len()).map(Slot::Kept).collect();
    answer(&kept, input, form)
}

/// The same list as differences. An inserted message comes before the next one
/// that stays.
fn edits(slots: &[Slot], length: usize) -> Outcome<Edits> {
    let mut edits = Edits::default();
    let mut next = 0;
    let mut waiting = Vec::new();
    for slot in slots {
        let index = match slot {
            Slot::Inserted(message) => {
                waiting.push(wire_message(message)?);
                continue;
            }
            Slot::Kept(index) => *index,
            Slot::Replaced { index, message } => {
                edits.replace.push(Replace { index: wide(*index), message: wire_message(message)? });
                *index
            }
        };
        let at = wide(index);
        edits.insert.extend(waiting.drain(..).map(|message| Insert { at, message }));
        match edits.keep.last_mut() {
            Some(range) if range.1 == at => range.1 = at + 1,
            _ => edits.keep.push((at, at + 1)),
        }
        next = index + 1;
    }
    let at = wide(next.max(length));
    edits.insert.extend(waiting.into_iter().map(|message| Insert { at, message }));
    Ok(edits)
}
