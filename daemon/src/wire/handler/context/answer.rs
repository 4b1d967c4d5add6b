//! The new list of an answer, either whole or as edits.

use herma_context::Message;
use herma_context::engine::Slot;
use herma_protocol::Json;
use herma_protocol::context::{Edits, Insert, Replace};

use super::wire_message;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::service::compression::{Answer, ReplyForm};

/// The list or the edits, whichever the caller requested.
type Answered = (Option<Vec<Json>>, Option<Edits>);

/// Returns the list or the edits of an answer.
pub(super) fn of(answer: &Answer) -> Outcome<Answered> {
    let (slots, list) = (&answer.slots, answer.sent.list());
    match answer.form {
        ReplyForm::Messages => Ok((Some(messages(slots, list)?), None)),
        ReplyForm::Edits => edits(slots, list.len()).map(|edits| (None, Some(edits))),
    }
}

pub(super) fn messages(slots: &[Slot], input: &[Message]) -> Outcome<Vec<Json>> {
    let message = |slot: &Slot| match slot {
        Slot::Kept(index) => {
            input.get(*index).ok_or_else(|| Error::internal("context.compress")).and_then(wire_message)
        }
        Slot::Replaced { message, .. } | Slot::Inserted(message) => wire_message(message),
    };
    slots.iter().map(message).collect()
}

/// Returns the new list as edits. An inserted message comes before the next kept message.
pub(super) fn edits(slots: &[Slot], length: usize) -> Outcome<Edits> {
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
                edits.replace.push(Replace { index: to_u64(*index), message: wire_message(message)? });
                *index
            }
        };
        let at = to_u64(index);
        edits.insert.extend(waiting.drain(..).map(|message| Insert { at, message }));
        match edits.keep.last_mut() {
            Some(range) if range.1 == at => range.1 = at + 1,
            _ => edits.keep.push((at, at + 1)),
        }
        next = index + 1;
    }
    let at = to_u64(next.max(length));
    edits.insert.extend(waiting.into_iter().map(|message| Insert { at, message }));
    Ok(edits)
}
