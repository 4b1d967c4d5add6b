//! The script-aware estimate of messages: their texts, their calls, and other billed parts.

use crate::Message;
use crate::constants::IMAGE_TOKENS;
use crate::message::{Content, Part, ToolCall};

use super::billed::billed;
use super::own::{SCALE, cost, string_cost};

/// The cost of a message in addition to its text: the marks of its begin, role and end. OpenAI's cookbook
/// gives three to four tokens for chat models.
const MESSAGE_OVERHEAD: u64 = 4_000;

/// Returns the estimate of a message list.
pub fn own_estimate_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    messages.into_iter().map(own_cost).sum::<u64>().div_ceil(SCALE)
}

/// Returns the cost of a message, in thousandths of a token.
pub(crate) fn own_cost(message: &Message) -> u64 {
    let thousandths = MESSAGE_OVERHEAD + words_cost(message);
    let parts: &[Part] = match message.content() {
        Content::List(parts) => parts,
        Content::Object(object) => &object.parts,
        _ => &[],
    };
    let images = parts.iter().filter(|part| part.is_image()).count() + message.blocks_cost().map_or(0, |(_, n)| n);
    thousandths + (images + billed(message).pictures) as u64 * IMAGE_TOKENS * SCALE
}

/// Returns the cost of the texts of a message and its calls' arguments, in thousandths of a token.
pub(crate) fn words_cost(message: &Message) -> u64 {
    let of_call = |call: &ToolCall| cost(call.name.as_deref().unwrap_or("")) + cost(&message.arguments(call));
    message.words_cost(|| {
        content_cost(message) + message.tool_calls().iter().map(of_call).sum::<u64>() + billed(message).words
    })
}

fn content_cost(message: &Message) -> u64 {
    match message.content() {
        Content::Text(span) => string_cost(message.slice(*span)),
        _ => cost(&message.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::say;

    #[test]
    fn a_message_costs_its_text_and_its_frame() {
        for text in ["", "a plain \"text\"\nof two lines", "Grüße, 你好 🦀"] {
            let own = own_estimate_messages([&say("user", text)]);
            assert_eq!(own, (cost(text) + MESSAGE_OVERHEAD).div_ceil(SCALE), "{text}");
        }
    }

    #[test]
    fn an_image_counts_flat() {
        let raw = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:AAAA"}}]}"#;
        assert_eq!(own_estimate_messages([&Message::parse(raw).unwrap()]), 1_504);
    }
}
