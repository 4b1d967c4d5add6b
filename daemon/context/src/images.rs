//! Images of earlier turns: only the newest user message that has one keeps it.

use crate::json::{Span, Splice};
use crate::message::{Content, Message, Part, Role, text_part};

/// What stands in for an image after a compression.
pub const STRIPPED: &str = "[Attached image — stripped after compression]";

/// The message before which images go: the newest user message with one, unless it is the first.
pub fn anchor<'a, I>(messages: I) -> Option<usize>
where
    I: IntoIterator<Item = &'a Message>,
    I::IntoIter: ExactSizeIterator + DoubleEndedIterator,
{
    messages.into_iter().rposition(|message| message.is(Role::User) && message.has_image()).filter(|&at| at > 0)
}

/// The message with its images replaced, or none if it has no image.
pub fn stripped(message: &Message) -> Option<Message> {
    without_images(message, STRIPPED)
}

/// The message with `text` in the place of every image part of its list content.
pub(crate) fn without_images(message: &Message, text: &str) -> Option<Message> {
    let Content::List(parts) = message.content() else {
        return None;
    };
    let splices: Vec<Splice> = parts
        .iter()
        .filter(|part| part.is_image())
        .map(|part: &Part| Splice { span: Span { ..part.span }, text: text_part(text) })
        .collect();
    (!splices.is_empty()).then(|| message.spliced(&splices))
}

/// The list with earlier images stripped.
pub fn strip_old(messages: &[Message]) -> Vec<Message> {
    let anchor = anchor(messages).unwrap_or(0);
    messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            let stripped = if at < anchor { stripped(message) } else { None };
            stripped.unwrap_or_else(|| message.clone())
        })
        .collect()
}

#[cfg(test)]
mod tests;
