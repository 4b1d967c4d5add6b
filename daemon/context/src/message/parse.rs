//! Parses a message in one walk through its text, which is known to be JSON.

use super::{Billed, Blocks, Content, Form, ObjectContent, Part, PartKind, Role, ToolCall, View};
use crate::json::{self, Span};

/// Returns the typed view of one JSON value; for another text the view is harmless.
pub(super) fn view(raw: &str) -> View {
    let at = json::start(raw);
    let form = match raw.as_bytes().get(at) {
        Some(b'{') => return object_view(raw, at),
        Some(b'"') => Form::Text(json::value(raw, at)),
        _ => Form::Other,
    };
    View { form, ..View::default() }
}

/// Returns a string or a number as an id; empty and other values are not ids.
fn id(value: &str) -> Option<String> {
    let usable = json::is_string(value) || value.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    usable.then(|| json::text_form(value).into_owned()).filter(|id| !id.is_empty())
}

fn begins_with(raw: &str, at: usize, byte: u8) -> bool {
    raw.as_bytes().get(at) == Some(&byte)
}

fn object_view(raw: &str, at: usize) -> View {
    let mut view = View { form: Form::Object, ..View::default() };
    json::members(raw, at, |key, at| {
        view.fields += 1;
        match &*json::decode(key) {
            "content" => {
                let (content, end) = content(raw, at);
                view.content = content;
                view.content_span = Some(Span { start: at, end });
                return end;
            }
            "tool_calls" => {
                view.tool_calls.clear();
                if begins_with(raw, at, b'[') {
                    return json::items(raw, at, |at| {
                        let (call, end) = tool_call(raw, at);
                        view.tool_calls.push(call);
                        end
                    });
                }
            }
            name => {
                let span = json::value(raw, at);
                view.field(name, Span::of(key, raw), span, raw);
                return span.end;
            }
        }
        json::value(raw, at).end
    });
    view
}

impl View {
    /// Reads a field other than content and calls.
    fn field(&mut self, name: &str, key: Span, span: Span, raw: &str) {
        let value = span.slice(raw);
        match name {
            "role" => {
                self.role = if json::is_string(value) { Role::from(&*json::decode(value)) } else { Role::Missing }
            }
            "tool_call_id" => self.tool_call_id = id(value),
            "_compressed_summary" => self.is_summary = value == "true",
            "_anthropic_content_blocks" => {
                let parts = if json::is_list(value) { parts(raw, span.start).0 } else { Vec::new() };
                let images = parts.iter().filter(|part| part.is_image()).count();
                self.blocks = Some(Blocks { key, value: span, images });
            }
            name => self.has_billed |= Billed::is_field(name),
        }
    }
}

/// Returns the content that begins at `at`, and the position after it.
fn content(raw: &str, at: usize) -> (Content, usize) {
    match raw.as_bytes().get(at) {
        Some(b'[') => {
            let (parts, end) = parts(raw, at);
            (Content::List(parts), end)
        }
        Some(b'{') => {
            let (object, end) = object_content(raw, at);
            (Content::Object(object), end)
        }
        first => {
            let span = json::value(raw, at);
            let content = match first {
                Some(b'"') => Content::Text(span),
                Some(b'n') => Content::Null,
                _ => Content::Other,
            };
            (content, span.end)
        }
    }
}

fn object_content(raw: &str, at: usize) -> (ObjectContent, usize) {
    let mut object = ObjectContent::default();
    let end = json::members(raw, at, |key, at| {
        let name = json::decode(key);
        if name == "content" && begins_with(raw, at, b'[') {
            let (parts, end) = parts(raw, at);
            object.parts = parts;
            return end;
        }
        let span = json::value(raw, at);
        match &*name {
            "_multimodal" => object.multimodal = span.slice(raw) == "true",
            "text_summary" => object.text_summary = Some(span),
            _ => {}
        }
        span.end
    });
    (object, end)
}

fn parts(raw: &str, at: usize) -> (Vec<Part>, usize) {
    let mut parts = Vec::new();
    let end = json::items(raw, at, |at| {
        let (kind, end) = part_kind(raw, at);
        parts.push(Part { span: Span { start: at, end }, kind });
        end
    });
    (parts, end)
}

fn part_kind(raw: &str, at: usize) -> (PartKind, usize) {
    match raw.as_bytes().get(at) {
        Some(b'"') => return (PartKind::Bare, json::value(raw, at).end),
        Some(b'{') => {}
        _ => return (PartKind::Other, json::value(raw, at).end),
    }
    let (mut text, mut content) = (None, None);
    let mut type_chars = None;
    let end = json::members(raw, at, |key, at| {
        let span = json::value(raw, at);
        let value = span.slice(raw);
        match &*json::decode(key) {
            "type" => {
                type_chars = match &*json::text_form(value) {
                    name @ ("image" | "image_url" | "input_image") => Some(name.len()),
                    _ => None,
                }
            }
            "text" => text = Some(span),
            "content" if json::is_string(value) => content = Some(span),
            _ => {}
        }
        span.end
    });
    match type_chars {
        Some(type_chars) => (PartKind::Image { type_chars }, end),
        None => (PartKind::Object { text, content }, end),
    }
}

fn tool_call(raw: &str, at: usize) -> (ToolCall, usize) {
    let mut call = ToolCall { is_object: begins_with(raw, at, b'{'), ..ToolCall::default() };
    if !call.is_object {
        return (call, json::value(raw, at).end);
    }
    let mut plain_id = None;
    let end = json::members(raw, at, |key, at| {
        let name = json::decode(key);
        if name == "function" && begins_with(raw, at, b'{') {
            return function(raw, at, &mut call);
        }
        let span = json::value(raw, at);
        match &*name {
            "call_id" => call.id = id(span.slice(raw)),
            "id" => plain_id = id(span.slice(raw)),
            _ => {}
        }
        span.end
    });
    call.id = call.id.or(plain_id);
    (call, end)
}

fn function(raw: &str, at: usize, call: &mut ToolCall) -> usize {
    json::members(raw, at, |key, at| {
        let span = json::value(raw, at);
        let value = span.slice(raw);
        match &*json::decode(key) {
            "name" if json::is_string(value) => call.name = Some(json::decode(value).into_owned()),
            "arguments" if value != "null" => call.arguments = Some(span),
            _ => {}
        }
        span.end
    })
}
