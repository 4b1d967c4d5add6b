//! Images of earlier turns: only the newest user message that has one keeps it.

use crate::json::{Span, Splice};
use crate::message::{Content, Message, Part, Role, text_part};

/// The text that replaces an image after a compression.
pub const STRIPPED: &str = "[Attached image — stripped after compression]";

/// Returns the position of the newest user message with an image, unless it is the first message. Images
/// before it are stripped.
pub fn anchor<'a, I>(messages: I) -> Option<usize>
where
    I: IntoIterator<Item = &'a Message>,
    I::IntoIter: ExactSizeIterator + DoubleEndedIterator,
{
    messages.into_iter().rposition(|message| message.is(Role::User) && message.has_image()).filter(|&at| at > 0)
}

/// Returns the message with its images replaced, or `None` if it has no image.
pub fn stripped(message: &Message) -> Option<Message> {
    without_images(message, STRIPPED)
}

/// Returns the message with `text` in place of every image part of its list content.
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

/// Returns the list with earlier images stripped.
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
