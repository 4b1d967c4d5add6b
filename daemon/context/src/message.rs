//! One chat message: its exact text, and a lenient typed view of it.

mod billed;
mod parse;
mod part;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use herma_json::terminal;
use rayon::prelude::*;
use serde_json::value::RawValue;

pub(crate) use crate::json::fields;
use crate::json::{self, Span, Splice, StringLength};
use crate::parallel;
pub(crate) use billed::Billed;
pub(crate) use part::{ObjectContent, Part, PartKind, text_part};

/// A chat message as the agent sent it.
///
/// Cloning is cheap: clones share the text. A message never changes; an edit makes a new one.
#[derive(Clone)]
pub struct Message(Arc<Inner>);

struct Inner {
    raw: Box<str>,
    view: View,
    /// The lengths of a string content, computed on first use.
    length: OnceLock<StringLength>,
    /// The cost of its words, computed on first use.
    words: OnceLock<u64>,
    /// Other billed parts, computed on first use.
    billed: OnceLock<Billed>,
}

impl Inner {
    fn new(raw: Box<str>) -> Arc<Self> {
        let view = parse::view(&raw);
        Arc::new(Self { raw, view, length: OnceLock::new(), words: OnceLock::new(), billed: OnceLock::new() })
    }
}

/// The parsed fields of a message. A message that is not an object has none.
#[derive(Default)]
struct View {
    form: Form,
    role: Role,
    content: Content,
    content_span: Option<Span>,
    tool_calls: Vec<ToolCall>,
    tool_call_id: Option<String>,
    is_summary: bool,
    blocks: Option<Blocks>,
    /// Whether it has a field besides content and calls that a provider bills.
    has_billed: bool,
    fields: usize,
}

/// What kind of JSON value the message is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    Object,
    Text(Span),
    #[default]
    Other,
}

/// The `_anthropic_content_blocks` field.
struct Blocks {
    key: Span,
    value: Span,
    images: usize,
}

/// The speaker of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// `system`
    System,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`
    Tool,
    /// Any other string.
    Other(String),
    /// No role, or one that is not a string.
    #[default]
    Missing,
}

impl Role {
    /// Returns the role as written in the message, empty if it has none.
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other(name) => name,
            Self::Missing => "",
        }
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        match name {
            "system" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The `content` of a message, as spans of its raw text.
#[derive(Default)]
pub(crate) enum Content {
    /// No such key.
    #[default]
    Missing,
    /// `null`
    Null,
    /// A string token.
    Text(Span),
    /// A list of parts.
    List(Vec<Part>),
    /// An object, as some tools return.
    Object(ObjectContent),
    /// A number or a boolean.
    Other,
}

/// One call in `tool_calls`. Fields that are absent or of another type are `None`.
#[derive(Clone, Debug, Default)]
pub struct ToolCall {
    /// The `call_id` if it is present and not empty, else the `id`.
    pub id: Option<String>,
    /// The function's name.
    pub name: Option<String>,
    pub(crate) arguments: Option<Span>,
    pub(crate) is_object: bool,
}

/// The error for a text that is not a chat message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The text is not one JSON value.
    #[error("read a message as JSON")]
    Json(#[source] serde_json::Error),
}

/// Returns a text without the escape sequences of terminals.
fn stripped(text: &str) -> Cow<'_, str> {
    if text.starts_with(['{', '[']) { terminal::stripped_json(text) } else { terminal::stripped(text) }
}

impl Message {
    /// Reads one message. Any JSON value is accepted; only objects have parsed fields.
    pub fn parse(raw: impl Into<Box<str>>) -> Result<Self, MessageError> {
        let raw = raw.into();
        let _value: &RawValue = serde_json::from_str(&raw).map_err(MessageError::Json)?;
        Ok(Self::of_json(raw))
    }

    /// Reads a text that is known to be one JSON value, without checking it again. For any other text the
    /// message carries the text, but its parsed fields have no meaning.
    pub fn of_json(raw: impl Into<Box<str>>) -> Self {
        Self(Inner::new(raw.into()))
    }

    /// [`Self::of_json`] for a whole list, on all processors.
    pub fn all_of_json(texts: Vec<String>) -> Vec<Self> {
        let read = |text: String| {
            let message = Self::of_json(text);
            // Later steps always need the length, and the message caches it.
            let _length = message.content_length();
            message
        };
        texts.into_par_iter().with_min_len(parallel::FEW_MESSAGES).map(read).collect()
    }

    /// Returns the exact text as sent.
    pub fn raw(&self) -> &str {
        &self.0.raw
    }

    /// Returns the speaker of the message.
    pub fn role(&self) -> &Role {
        &self.0.view.role
    }

    /// Whether the role is `role`.
    pub(crate) fn is(&self, role: Role) -> bool {
        self.0.view.role == role
    }

    /// Whether the message is a JSON object.
    pub fn is_object(&self) -> bool {
        self.0.view.form == Form::Object
    }

    /// Returns the tool calls, in order.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.0.view.tool_calls
    }

    /// Returns the id of the call that this result answers, if it is not empty.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.0.view.tool_call_id.as_deref()
    }

    /// Whether `_compressed_summary` is true.
    pub fn is_summary(&self) -> bool {
        self.0.view.is_summary
    }

    /// Returns the text of the content: a string, the text parts of a list joined by newlines, the summary of
    /// a multimodal result, or the message itself if it is a bare string.
    pub fn text(&self) -> Cow<'_, str> {
        match self.content() {
            Content::Text(span) => json::decode(self.slice(*span)),
            Content::List(parts) => part::joined_text(parts, self.raw()),
            Content::Object(object) => {
                object.text_summary.map_or(Cow::Borrowed(""), |span| json::text_form(self.slice(span)))
            }
            Content::Other => {
                self.0.view.content_span.map_or(Cow::Borrowed(""), |span| Cow::Borrowed(self.slice(span)))
            }
            Content::Missing | Content::Null => match self.0.view.form {
                Form::Text(span) => json::decode(self.slice(span)),
                _ => Cow::Borrowed(""),
            },
        }
    }

    /// Returns the text as a reader sees it, without the escape sequences of terminals: their letters are no
    /// part of a word.
    pub(crate) fn shown_text(&self) -> Cow<'_, str> {
        match self.text() {
            Cow::Borrowed(text) => stripped(text),
            Cow::Owned(text) => match stripped(&text) {
                Cow::Owned(shown) => Cow::Owned(shown),
                Cow::Borrowed(_) => Cow::Owned(text),
            },
        }
    }

    /// Returns the arguments of a call as text: the string, or the JSON of another value.
    pub fn arguments(&self, call: &ToolCall) -> Cow<'_, str> {
        call.arguments.map_or(Cow::Borrowed(""), |span| json::text_form(self.slice(span)))
    }

    /// Whether the list content has an image part.
    pub fn has_image(&self) -> bool {
        matches!(self.content(), Content::List(parts) if parts.iter().any(Part::is_image))
    }

    /// Whether both share the same text in memory; equal messages may not.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn content(&self) -> &Content {
        &self.0.view.content
    }

    pub(crate) fn content_span(&self) -> Option<Span> {
        self.0.view.content_span
    }

    pub(crate) fn slice(&self, span: Span) -> &str {
        span.slice(self.raw())
    }

    /// Returns the lengths of the content, if it is a string.
    pub(crate) fn content_length(&self) -> Option<StringLength> {
        match self.content() {
            Content::Text(span) => {
                let length = || StringLength::of(self.slice(*span));
                Some(*self.0.length.get_or_init(length))
            }
            _ => None,
        }
    }

    /// Returns the cost of its text and call arguments in thousandths of a token. `count` computes it once.
    pub(crate) fn words_cost(&self, count: impl FnOnce() -> u64) -> u64 {
        *self.0.words.get_or_init(count)
    }

    /// Returns what a provider bills besides the text and the calls. `count` computes it once.
    pub(crate) fn billed(&self, count: impl FnOnce() -> Billed) -> Billed {
        *self.0.billed.get_or_init(count)
    }

    /// Whether it has a field besides content and calls that a provider bills.
    pub(crate) fn has_billed(&self) -> bool {
        self.0.view.has_billed
    }

    /// Returns the canonical chars of the whole message.
    pub(crate) fn canonical_chars(&self) -> usize {
        match (self.content_length(), self.content_span()) {
            (Some(length), Some(span)) => {
                let before = self.raw().get(..span.start).unwrap_or("");
                let after = self.raw().get(span.end..).unwrap_or("");
                json::canonical_chars(before) + length.canonical + json::canonical_chars(after)
            }
            _ => json::canonical_chars(self.raw()),
        }
    }

    /// Returns the span of the text if the message is a bare string.
    pub(crate) fn bare_text(&self) -> Option<Span> {
        match self.0.view.form {
            Form::Text(span) => Some(span),
            _ => None,
        }
    }

    /// Returns the canonical chars of the `_anthropic_content_blocks` field with its separator, and the
    /// number of its images.
    pub(crate) fn blocks_cost(&self) -> Option<(usize, usize)> {
        let blocks = self.0.view.blocks.as_ref()?;
        let separator = if self.0.view.fields > 1 { 2 } else { 0 };
        let chars = json::canonical_chars(self.slice(blocks.key))
            + 2
            + json::canonical_chars(self.slice(blocks.value))
            + separator;
        Some((chars, blocks.images))
    }

    /// Builds a message of herma's own.
    pub(crate) fn compose(fields: &[(&str, String)]) -> Self {
        let body: Vec<String> = fields.iter().map(|(key, value)| format!("{}: {value}", json::encode(key))).collect();
        Self::of_json(format!("{{{}}}", body.join(", ")))
    }

    /// Returns this message with another text. In list content one new text part in front replaces all text
    /// parts; the other parts stay.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        let content = match self.content() {
            Content::List(parts) => {
                let raw = self.raw();
                let others = parts.iter().filter(|part| part.text(raw).is_none()).map(|part| part.span.slice(raw));
                let parts: Vec<Cow<'_, str>> =
                    std::iter::once(Cow::Owned(text_part(text))).chain(others.map(Cow::Borrowed)).collect();
                format!("[{}]", parts.join(", "))
            }
            _ => json::encode(text),
        };
        self.with_content(&content, &[])
    }

    /// Returns this message with some spans replaced; the rest keeps its exact text.
    pub(crate) fn spliced(&self, splices: &[Splice]) -> Self {
        Self::of_json(json::splice(self.raw(), splices))
    }

    /// Returns this message with another content (a JSON text) and, if given, further fields.
    pub(crate) fn with_content(&self, content: &str, more: &[(&str, &str)]) -> Self {
        let mut splices = Vec::new();
        let mut added: Vec<String> = Vec::new();
        match self.content_span() {
            Some(span) => splices.push(Splice { span, text: content.to_owned() }),
            None => added.push(format!("\"content\": {content}")),
        }
        added.extend(more.iter().map(|(key, value)| format!("\"{key}\": {value}")));
        if !added.is_empty() {
            let brace = self.raw().rfind('}').unwrap_or(self.raw().len());
            let glue = if self.0.view.fields > 0 { ", " } else { "" };
            splices
                .push(Splice { span: Span { start: brace, end: brace }, text: format!("{glue}{}", added.join(", ")) });
        }
        self.spliced(&splices)
    }
}

impl Message {
    /// Returns this message without the fields of that name; the other fields keep their text.
    pub(crate) fn without_field(&self, name: &str) -> Self {
        let quoted = json::encode(name);
        let fields = fields(self.raw());
        if !self.is_object() || fields.iter().all(|(key, _)| *key != quoted) {
            return self.clone();
        }
        let kept = fields.iter().filter(|(key, _)| *key != quoted);
        let kept: Vec<String> = kept.map(|(key, value)| format!("{key}: {value}")).collect();
        Self::of_json(format!("{{{}}}", kept.join(", ")))
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.raw())
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

#[cfg(test)]
mod tests;
