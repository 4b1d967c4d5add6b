//! The parts of list content, and content that is an object.

use std::borrow::Cow;

use crate::json::{self, Span};

/// One item of a content list.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The whole item.
    pub(crate) span: Span,
    pub(crate) kind: PartKind,
}

/// The type of an item in a content list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PartKind {
    /// A bare string.
    Bare,
    /// An object of type `image`, `image_url` or `input_image`.
    Image {
        /// Chars of the type's name.
        type_chars: usize,
    },
    /// Any other object.
    Object {
        /// Its `text`.
        text: Option<Span>,
        /// Its `content`, if a string.
        content: Option<Span>,
    },
    /// A number, a boolean, null or a list.
    Other,
}

/// Content that is an object.
#[derive(Debug, Default)]
pub(crate) struct ObjectContent {
    /// Whether `_multimodal` is true.
    pub(crate) multimodal: bool,
    /// Its `text_summary`.
    pub(crate) text_summary: Option<Span>,
    /// The parts of its own `content`.
    pub(crate) parts: Vec<Part>,
}

impl Part {
    /// Whether this is an image part of one of the three types.
    pub(crate) fn is_image(&self) -> bool {
        matches!(self.kind, PartKind::Image { .. })
    }

    /// Returns the text of this part that a reader would see.
    pub(crate) fn text<'a>(&self, raw: &'a str) -> Option<Cow<'a, str>> {
        match self.kind {
            PartKind::Bare => Some(json::decode(self.span.slice(raw))),
            PartKind::Object { text, content } => text
                .filter(|span| json::is_string(span.slice(raw)))
                .or(content)
                .map(|span| json::decode(span.slice(raw))),
            PartKind::Image { .. } | PartKind::Other => None,
        }
    }
}

/// Returns the texts of all parts, joined by newlines.
pub(crate) fn joined_text<'a>(parts: &[Part], raw: &'a str) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(|part| part.text(raw));
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    texts.fold(first, |mut all, text| {
        let joined = all.to_mut();
        joined.push('\n');
        joined.push_str(&text);
        all
    })
}

/// Returns a text part for list content.
pub(crate) fn text_part(text: &str) -> String {
    format!("{{\"type\": \"text\", \"text\": {}}}", json::encode(text))
}
