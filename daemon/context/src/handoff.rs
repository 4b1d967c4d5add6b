//! The handoff message: its text, how to recognise it, and where it goes.

use crate::constants::{END_MARKER, END_TAIL, END_WORDS, FAMILY, LEGACY, METADATA_KEY, PREFIX};
mod section;

pub(crate) use section::FRAME_OF_SECTION;
pub use section::{Section, SectionKind};

use crate::json;
use crate::message::{Content, Message, Role, text_part};

/// The prefix begins within this many chars, leading white space included.
const LEAD_CHARS: usize = 256;

/// Returns the whole text of a handoff around a body.
pub fn with_frame(body: &str) -> String {
    format!("{}\n\n{END_MARKER}", with_prefix(body))
}

/// Returns the prefix, a newline and the body. The body is stripped first, so a second call changes nothing.
/// (A body that itself quotes a frame at its ends loses it on the second call, because [`strip`] removes
/// one.)
pub fn with_prefix(body: &str) -> String {
    format!("{PREFIX}\n{}", strip(body))
}

/// Returns the body alone: without one prefix (the current or an older one) and one end marker.
pub fn strip(text: &str) -> &str {
    let text = text.trim();
    let body = match prefix_end(text) {
        Some(end) => text.get(end..).unwrap_or("").trim(),
        None => text,
    };
    let (start, last) = match body.rfind('\n') {
        Some(at) => (at, body.get(at + 1..).unwrap_or("")),
        None => (0, body),
    };
    if is_end_marker(last) { body.get(..start).unwrap_or("").trim() } else { body }
}

/// Returns the sections of a summary that fit whole, in their order: a cut one says little for its room.
pub(crate) fn whole_sections(body: &str, chars: usize) -> String {
    let starts = std::iter::once(0).chain(body.match_indices("\n\n## ").map(|(at, _)| at)).collect::<Vec<_>>();
    let ends = starts.iter().copied().skip(1).chain([body.len()]);
    let mut left = chars;
    let mut whole = String::new();
    for section in starts.iter().zip(ends).filter_map(|(start, end)| body.get(*start..end)) {
        if let Some(rest) = left.checked_sub(section.chars().count()) {
            left = rest;
            whole.push_str(section);
        }
    }
    whole.trim().to_owned()
}

/// Returns where the prefix of a text ends: after its first line, or after the legacy words.
fn prefix_end(text: &str) -> Option<usize> {
    if text.starts_with(LEGACY) {
        return Some(LEGACY.len());
    }
    text.starts_with(FAMILY).then(|| text.find('\n').unwrap_or(text.len()))
}

fn is_end_marker(line: &str) -> bool {
    line.contains(END_WORDS) && line.trim_end().ends_with(END_TAIL)
}

/// The parts of a handoff's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The summary, without the appended sections.
    pub body: String,
    /// The text after the end marker: the words of the message that the handoff was merged into.
    pub rest: String,
}

/// Splits the text of a handoff. Returns `None` if the text is not a handoff.
pub fn split(text: &str) -> Option<Parts> {
    let text = text.trim();
    prefix_end(text)?;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if is_end_marker(line) {
            return Some(Parts {
                body: own_sections(strip(text.get(..end).unwrap_or(""))).to_owned(),
                rest: text.get(end..).unwrap_or("").trim().to_owned(),
            });
        }
        at = end;
    }
    Some(Parts { body: own_sections(strip(text)).to_owned(), rest: String::new() })
}

/// Returns a summary without the sections that herma appends to it.
pub fn own_sections(body: &str) -> &str {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let heading = line.trim_end();
        if SectionKind::ALL.iter().any(|kind| kind.heading() == heading) {
            return body.get(..at).unwrap_or("").trim_end();
        }
        at += line.len();
    }
    body
}

/// Returns the sections that herma appended to the summary of a handoff, in their order.
pub fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    for line in text.lines() {
        if is_end_marker(line) {
            break;
        }
        let heading = line.trim_end();
        if let Some(kind) = SectionKind::ALL.into_iter().find(|kind| kind.heading() == heading) {
            found.push(Section { kind, text: String::new() });
        } else if let Some(section) = found.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    for section in &mut found {
        section.text.truncate(section.text.trim_end().len());
    }
    found
}

/// Removes lines that could be taken for a boundary of the handoff that will contain the text.
pub(crate) fn defused(text: &str) -> String {
    let boundary = |line: &str| {
        let line = line.trim();
        is_end_marker(line) || line.starts_with(FAMILY) || SectionKind::ALL.iter().any(|kind| kind.heading() == line)
    };
    let lines: Vec<&str> = text.trim().split('\n').filter(|line| !boundary(line)).collect();
    lines.join("\n")
}

/// Whether the content of a message begins like a handoff. A tool result never counts, because it may quote
/// one.
pub fn is_handoff(message: &Message) -> bool {
    if message.is(Role::Tool) {
        return false;
    }
    match message.content() {
        Content::Text(span) => {
            let token = message.slice(*span);
            // Only a bracket, an escape or white space can lead to a prefix.
            match token.as_bytes().get(1) {
                Some(b'[' | b'\\') => begins(&json::decode_head(token, LEAD_CHARS)),
                Some(byte) if byte.is_ascii_whitespace() => begins(&json::decode_head(token, LEAD_CHARS)),
                _ => false,
            }
        }
        Content::List(_) => begins(&message.text()),
        _ => false,
    }
}

/// Whether a message is only a handoff, with no text after it and no tool calls.
pub fn is_only_handoff(message: &Message) -> bool {
    is_handoff(message)
        && message.tool_calls().is_empty()
        && split(&message.text()).is_some_and(|parts| parts.rest.is_empty())
}

/// Whether a text begins like a handoff.
pub(crate) fn begins(text: &str) -> bool {
    prefix_end(text.trim_start()).is_some()
}

/// How a handoff is put into the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// As a message of its own with the user's role.
    User,
    /// As a message of its own with the assistant's role.
    Assistant,
    /// Before the content of the first message of the tail.
    Merge,
}

/// Returns the placement between the last message of the head and the first message of the tail.
///
/// Without a head the list must not begin with an assistant message. So the handoff has the user's role, or
/// is merged into the user's own message.
pub fn placement(prev: Option<&Role>, next: Option<&Role>) -> Placement {
    let next = next.unwrap_or(&Role::User);
    let Some(prev) = prev else {
        return match next {
            Role::User => Placement::Merge,
            _ => Placement::User,
        };
    };
    match (prev, next) {
        (Role::Assistant, Role::User) | (Role::User, Role::Assistant) => Placement::Merge,
        (Role::Tool, Role::User) => Placement::Assistant,
        (Role::Assistant | Role::Tool, _) => Placement::User,
        (_, Role::Assistant) => Placement::User,
        _ => Placement::Assistant,
    }
}

/// Returns a handoff as a message of its own.
pub(crate) fn standalone(text: &str, role: Role) -> Message {
    Message::compose(&[
        ("role", json::encode(role.as_str())),
        ("content", json::encode(text)),
        (METADATA_KEY, "true".to_owned()),
    ])
}

/// Returns the first message of the tail with the handoff before its own content.
pub(crate) fn merged(text: &str, message: &Message) -> Message {
    let own = message.content_span().map_or("", |span| message.slice(span));
    let content = match message.content() {
        Content::Missing | Content::Null => json::encode(text),
        Content::Text(_) => json::encode(&format!("{text}\n\n{}", message.text())),
        Content::List(parts) => {
            let block = text_part(&format!("{text}\n\n"));
            let inner = own.get(1..).unwrap_or("]");
            let glue = if parts.is_empty() { "" } else { ", " };
            format!("[{block}{glue}{inner}")
        }
        Content::Object(_) | Content::Other => {
            format!("[{}, {own}]", text_part(&format!("{text}\n\n")))
        }
    };
    if message.is_summary() {
        message.with_content(&content, &[])
    } else {
        message.with_content(&content, &[(METADATA_KEY, "true")])
    }
}

/// Undoes a merge: returns the message without the handoff before its content. Returns `None` for other
/// messages.
pub(crate) fn without_handoff(message: &Message) -> Option<Message> {
    if !is_handoff(message) || is_only_handoff(message) {
        return None;
    }
    let content = match message.content() {
        Content::Text(_) => match behind(&message.text())? {
            // The message had no text, only calls.
            "" => "null".to_owned(),
            own => json::encode(own.strip_prefix('\n').unwrap_or(own)),
        },
        Content::List(parts) => {
            let first = parts.first()?;
            behind(&first.text(message.raw())?).filter(|rest| rest.trim().is_empty())?;
            let kept: Vec<&str> = parts.iter().skip(1).map(|part| part.span.slice(message.raw())).collect();
            format!("[{}]", kept.join(", "))
        }
        _ => return None,
    };
    Some(message.with_content(&content, &[]).without_field(METADATA_KEY))
}

/// Returns the text after the line of the end marker.
fn behind(text: &str) -> Option<&str> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if is_end_marker(line) {
            return text.get(at..);
        }
    }
    None
}

#[cfg(test)]
mod tests;
