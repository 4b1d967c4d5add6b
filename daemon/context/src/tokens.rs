//! Token counts: a published rough formula, and an estimate that depends on the script.

mod billed;
mod load;
mod messages;
mod own;

pub(crate) use load::{Load, tokens_of};
pub use messages::own_estimate_messages;
pub(crate) use messages::words_cost;
pub(crate) use own::SCALE;
pub use own::own_estimate_text;

use crate::Message;
use crate::constants::{IMAGE_CHARS, IMAGE_TOKENS};
use crate::json;
use crate::message::{Content, ObjectContent, Part, PartKind};

/// Chars per token in the rough formula.
const CHARS_PER_TOKEN: usize = 4;
/// Tokens that a budget walk adds for every message.
const MESSAGE_OVERHEAD: u64 = 10;
/// Chars of the stub that replaces an image part in an estimate, without the type's name.
const IMAGE_STUB_CHARS: usize = r#"{"type": "", "image": "[stripped]"}"#.len();

/// The size of a list for the rough estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Chars of the textual form.
    pub chars: usize,
    /// Images, which are counted separately.
    pub images: usize,
}

impl Measure {
    /// Returns the size of one message.
    pub fn of(message: &Message) -> Self {
        let chars = match message.bare_text() {
            Some(span) => json::string_chars(message.slice(span)),
            None => message.canonical_chars(),
        };
        let mut measure = Self { chars, images: 0 };
        match message.content() {
            Content::List(parts) => measure.stub_images(parts, message),
            Content::Object(object) if object.multimodal => {
                measure.only_the_summary(object, message);
            }
            _ => {}
        }
        if let Some((chars, images)) = message.blocks_cost() {
            measure.chars = measure.chars.saturating_sub(chars);
            measure.images += images;
        }
        let billed = billed::billed(message);
        measure.chars = measure.chars.saturating_sub(billed.data_chars);
        measure.images += billed.pictures;
        measure
    }

    fn stub_images(&mut self, parts: &[Part], message: &Message) {
        for part in parts {
            if let PartKind::Image { type_chars } = part.kind {
                let sent = json::canonical_chars(message.slice(part.span));
                self.chars = self.chars.saturating_sub(sent) + IMAGE_STUB_CHARS + type_chars;
                self.images += 1;
            }
        }
    }

    fn only_the_summary(&mut self, object: &ObjectContent, message: &Message) {
        let sent = message.content_span().map_or(0, |span| json::canonical_chars(message.slice(span)));
        let summary = object.text_summary.map_or(2, |span| json::canonical_chars(message.slice(span)));
        self.chars = self.chars.saturating_sub(sent) + summary;
        self.images += object.parts.iter().filter(|part| part.is_image()).count();
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { chars: self.chars + other.chars, images: self.images + other.images }
    }

    /// Returns the difference, at least 0.
    #[must_use]
    pub(crate) fn without(self, other: Self) -> Self {
        let (chars, images) = (self.chars.saturating_sub(other.chars), self.images.saturating_sub(other.images));
        Self { chars, images }
    }

    /// Returns the sum over a list.
    pub fn of_all<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        messages.into_iter().fold(Self::default(), |sum, message| sum.plus(Self::of(message)))
    }

    /// Returns the rough estimate: one ceiling over the whole.
    pub fn tokens(self) -> u64 {
        chars_to_tokens(self.chars) + IMAGE_TOKENS * self.images as u64
    }
}

/// Returns the tokens of so many chars in the rough formula.
pub fn chars_to_tokens(chars: usize) -> u64 {
    chars.div_ceil(CHARS_PER_TOKEN) as u64
}

/// Returns the rough estimate of a list of which only the size of the JSON texts in bytes is known. It is too
/// high if most text is not ASCII, or if the JSON around the texts is longer than they are.
pub const fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(CHARS_PER_TOKEN as u64)
}

/// Returns the chars of so many tokens in the rough formula.
pub fn tokens_to_chars(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN)
}

/// Returns the rough estimate of a text: chars / 4, rounded up.
pub fn estimate_text(text: &str) -> u64 {
    chars_to_tokens(text.chars().count())
}

/// Returns the rough estimate of a message list.
pub fn estimate_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    Measure::of_all(messages).tokens()
}

/// Returns the rough estimate of a request; `tools` is the JSON text of the tool list.
pub fn estimate_request<'a>(
    system: Option<&str>,
    messages: impl IntoIterator<Item = &'a Message>,
    tools: Option<&str>,
) -> u64 {
    let tools = tools.map(json::canonical_chars).filter(|&chars| chars > "[]".len()).map_or(0, chars_to_tokens);
    system.map_or(0, estimate_text) + estimate_messages(messages) + tools
}

/// Returns the chars of a message's content in a budget walk; images have a fixed size.
pub fn budget_chars(message: &Message) -> usize {
    let raw = message.raw();
    match message.content() {
        Content::Missing | Content::Null => {
            message.bare_text().map_or(0, |span| json::string_chars(message.slice(span)))
        }
        Content::Text(_) => message.content_length().map_or(0, |length| length.decoded),
        Content::List(parts) => parts.iter().map(|part| part_budget_chars(part, raw)).sum(),
        Content::Object(object) => object_budget_chars(object, message),
        Content::Other => content_chars(message),
    }
}

fn content_chars(message: &Message) -> usize {
    message.content_span().map_or(0, |span| json::canonical_chars(message.slice(span)))
}

fn part_budget_chars(part: &Part, raw: &str) -> usize {
    match part.kind {
        PartKind::Image { .. } => IMAGE_CHARS,
        PartKind::Bare => json::string_chars(part.span.slice(raw)),
        PartKind::Object { text, .. } => {
            text.map(|span| span.slice(raw)).filter(|text| *text != "null").map_or(0, json::text_form_chars)
        }
        PartKind::Other => json::canonical_chars(part.span.slice(raw)),
    }
}

/// An object counts as its text form, but its images have the fixed size.
fn object_budget_chars(object: &ObjectContent, message: &Message) -> usize {
    object.parts.iter().filter(|part| part.is_image()).fold(content_chars(message), |chars, part| {
        let sent = json::canonical_chars(message.slice(part.span));
        chars.saturating_sub(sent) + IMAGE_CHARS
    })
}

/// Returns the tokens of a message in a budget walk.
pub fn message_tokens(message: &Message) -> u64 {
    let calls: usize = message
        .tool_calls()
        .iter()
        .filter_map(|call| call.arguments)
        .map(|span| json::text_form_chars(message.slice(span)) / CHARS_PER_TOKEN)
        .sum();
    (budget_chars(message) / CHARS_PER_TOKEN + calls) as u64 + MESSAGE_OVERHEAD
}

#[cfg(test)]
mod tests;
