//! Marks that set up to where a provider may cache the prompt.
//!
//! There are at most four: on a leading system message, and on the last messages that are not system
//! messages. A message without a change of marks keeps its exact text. Of the others only the mark changes.

mod marks;

use crate::json::{self, Span, Splice};
use crate::message::{Content, Message, Part, Role, fields};

/// The most marks that a request may have.
pub const MAX_MARKS: usize = 4;

/// The field that holds a mark.
const KEY: &str = "cache_control";

/// How long a prompt cache lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// Five minutes, the default of a mark.
    #[default]
    FiveMinutes,
    /// An hour.
    OneHour,
}

/// Whether tool messages can have a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMarks {
    /// They can: the endpoint has its native protocol, which accepts them.
    Native,
    /// They cannot. A tool message still uses up one of the marks.
    #[default]
    None,
}

impl Ttl {
    const fn mark(self) -> &'static str {
        match self {
            Self::FiveMinutes => r#"{"type": "ephemeral"}"#,
            Self::OneHour => r#"{"type": "ephemeral", "ttl": "1h"}"#,
        }
    }
}

/// Returns the list with its marks, at most [`MAX_MARKS`]. Existing marks stay while there is room. If there
/// are more, the oldest go, because a mark is for the end of the prompt.
pub fn marked(messages: &[Message], ttl: Ttl, tools: ToolMarks) -> Vec<Message> {
    let mut out = messages.to_vec();
    let places: Vec<usize> =
        places(messages).into_iter().filter(|at| with_mark(&messages[*at], ttl, tools).is_some()).collect();
    for at in &places {
        let own = marks::without(&messages[*at]);
        out[*at] = with_mark(&own, ttl, tools).unwrap_or(own);
    }
    let mut count: usize = out.iter().map(marks::count).sum();
    for (at, message) in out.iter_mut().enumerate().filter(|(at, _)| !places.contains(at)) {
        if count <= MAX_MARKS {
            break;
        }
        count -= marks::count(message);
        *message = marks::without(&messages[at]);
    }
    out
}

/// Returns the positions that should get a mark.
fn places(messages: &[Message]) -> Vec<usize> {
    let system = messages.first().filter(|first| first.is(Role::System)).map(|_| 0);
    let left = MAX_MARKS - usize::from(system.is_some());
    let others = messages.iter().enumerate().rev().filter(|(_, message)| !message.is(Role::System));
    system.into_iter().chain(others.map(|(at, _)| at).take(left)).collect()
}

/// Returns the message with a mark, or `None` if it can't have one.
fn with_mark(message: &Message, ttl: Ttl, tools: ToolMarks) -> Option<Message> {
    if !message.is_object() {
        return None;
    }
    let whole = Span::of(message.raw(), message.raw());
    let splice = match message.content() {
        _ if message.is(Role::Tool) => (tools == ToolMarks::Native).then(|| field(message, whole, ttl))?,
        Content::Missing => return None,
        Content::Null => field(message, whole, ttl),
        Content::Text(span) if json::string_chars(message.slice(*span)) == 0 => field(message, whole, ttl),
        Content::Text(span) => {
            let text = message.slice(*span);
            Splice { span: *span, text: format!(r#"[{{"type": "text", "text": {text}, "{KEY}": {}}}]"#, ttl.mark()) }
        }
        Content::List(parts) => field(message, last_object(parts, message)?, ttl),
        Content::Object(_) | Content::Other => return None,
    };
    Some(message.spliced(&[splice]))
}

/// Returns the last part of list content, if it is an object that can have a mark. Providers refuse a mark on
/// a thought and on an empty text.
fn last_object(parts: &[Part], message: &Message) -> Option<Span> {
    let part = parts.last().filter(|part| message.slice(part.span).starts_with('{'))?;
    let kind = json::member(message.slice(part.span), "type").map(json::text_form).unwrap_or_default();
    let is_thought = matches!(&*kind, "thinking" | "redacted_thinking");
    let is_empty = kind == "text" && part.text(message.raw()).is_none_or(|text| text.trim().is_empty());
    (!is_thought && !is_empty).then_some(part.span)
}

/// Returns the edit that gives an object of the message a mark: after its other fields, or in place of an
/// existing mark.
fn field(message: &Message, object: Span, ttl: Ttl) -> Splice {
    let text = message.slice(object);
    if let Some(value) = json::member(text, KEY) {
        return Splice { span: Span::of(value, message.raw()), text: ttl.mark().to_owned() };
    }
    let brace = object.start + text.rfind('}').unwrap_or(text.len());
    let glue = if fields(text).is_empty() { "" } else { ", " };
    Splice { span: Span { start: brace, end: brace }, text: format!(r#"{glue}"{KEY}": {}"#, ttl.mark()) }
}

#[cfg(test)]
mod tests;
