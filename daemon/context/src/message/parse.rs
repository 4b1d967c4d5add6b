//! Reading a message: one pass over the object, a second one only over lists and calls.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Blocks, Content, Form, ObjectContent, Part, PartKind, Role, ToolCall, View};
use crate::json::{self, Span};

/// The typed view of one JSON value.
pub(super) fn view(raw: &str) -> Result<View, serde_json::Error> {
    let value: &RawValue = match raw.trim_start().starts_with('{') {
        true => return Ok(object_view(raw, &serde_json::from_str::<Fields<'_>>(raw)?)),
        false => serde_json::from_str(raw)?,
    };
    let form = match json::is_string(value.get()) {
        true => Form::Text(Span::of(value.get(), raw)),
        false => Form::Other,
    };
    Ok(View { form, ..View::default() })
}

/// The keys and values of an object as they stand in the text, duplicates included.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(4);
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    fields.push((key.get(), value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// The keys and values of an object, as slices of its text; nothing if it is none.
pub(crate) fn fields(raw: &str) -> Vec<(&str, &str)> {
    serde_json::from_str::<Fields<'_>>(raw).map_or_else(|_| Vec::new(), |fields| fields.0)
}

fn items(raw: &str) -> Vec<&str> {
    serde_json::from_str::<Vec<&RawValue>>(raw)
        .map_or_else(|_| Vec::new(), |items| items.into_iter().map(RawValue::get).collect())
}

/// A string or a number as an id; empty and other values are no id.
fn id(value: &str) -> Option<String> {
    let usable = json::is_string(value) || value.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    usable.then(|| json::text_form(value).into_owned()).filter(|id| !id.is_empty())
}

fn object_view(raw: &str, fields: &Fields<'_>) -> View {
    let mut view = View { form: Form::Object, fields: fields.0.len(), ..View::default() };
    for &(key, value) in &fields.0 {
        match &*json::decode(key) {
            "role" => {
                view.role = match json::is_string(value) {
                    true => Role::from(&*json::decode(value)),
                    false => Role::Missing,
                }
            }
            "content" => {
                view.content = content(value, raw);
                view.content_span = Some(Span::of(value, raw));
            }
            "tool_calls" => {
                view.tool_calls = items(value).into_iter().map(|call| tool_call(call, raw)).collect();
            }
            "tool_call_id" => view.tool_call_id = id(value),
            "_compressed_summary" => view.is_summary = value == "true",
            "_anthropic_content_blocks" => {
                view.blocks = Some(Blocks {
                    key: Span::of(key, raw),
                    value: Span::of(value, raw),
                    images: parts(value, raw).iter().filter(|p| p.is_image()).count(),
                });
            }
            _ => {}
        }
    }
    view
}

fn content(value: &str, raw: &str) -> Content {
    match value.as_bytes().first() {
        Some(b'"') => Content::Text(Span::of(value, raw)),
        Some(b'[') => Content::List(parts(value, raw)),
        Some(b'{') => Content::Object(object_content(value, raw)),
        Some(b'n') => Content::Null,
        _ => Content::Other,
    }
}

fn object_content(value: &str, raw: &str) -> ObjectContent {
    let mut object = ObjectContent::default();
    for (key, value) in fields(value) {
        match &*json::decode(key) {
            "_multimodal" => object.multimodal = value == "true",
            "text_summary" => object.text_summary = Some(Span::of(value, raw)),
            "content" if value.starts_with('[') => object.parts = parts(value, raw),
            _ => {}
        }
    }
    object
}

fn parts(list: &str, raw: &str) -> Vec<Part> {
    items(list).into_iter().map(|item| Part { span: Span::of(item, raw), kind: part_kind(item, raw) }).collect()
}

fn part_kind(item: &str, raw: &str) -> PartKind {
    match item.as_bytes().first() {
        Some(b'"') => return PartKind::Bare,
        Some(b'{') => {}
        _ => return PartKind::Other,
    }
    let (mut text, mut content) = (None, None);
    let mut type_chars = None;
    for (key, value) in fields(item) {
        match &*json::decode(key) {
            "type" => {
                type_chars = match &*json::text_form(value) {
                    name @ ("image" | "image_url" | "input_image") => Some(name.len()),
                    _ => None,
                }
            }
            "text" => text = Some(Span::of(value, raw)),
            "content" if json::is_string(value) => content = Some(Span::of(value, raw)),
            _ => {}
        }
    }
    match type_chars {
        Some(type_chars) => PartKind::Image { type_chars },
        None => PartKind::Object { text, content },
    }
}

fn tool_call(call: &str, raw: &str) -> ToolCall {
    let mut out = ToolCall { is_object: call.starts_with('{'), ..ToolCall::default() };
    if !out.is_object {
        return out;
    }
    let mut plain_id = None;
    for (key, value) in fields(call) {
        match &*json::decode(key) {
            "call_id" => out.id = id(value),
            "id" => plain_id = id(value),
            "function" if value.starts_with('{') => {
                for (key, value) in fields(value) {
                    match &*json::decode(key) {
                        "name" if json::is_string(value) => {
                            out.name = Some(json::decode(value).into_owned());
                        }
                        "arguments" if value != "null" => {
                            out.arguments = Some(Span::of(value, raw));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    out.id = out.id.or(plain_id);
    out
}
