//! JSON objects as texts: reads fields as written, and writes new objects with them.

use std::borrow::Cow;

use crate::{handoff, json};

/// The fields of an object, each value as written.
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Object<'a> {
    /// Reads a JSON text; there are no fields if it is not an object.
    pub(super) fn of(raw: &'a str) -> Self {
        Self(json::fields(raw).into_iter().map(|(key, value)| (json::decode(key), value)).collect())
    }

    /// Returns the value of a field, the last one if there are several.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the value of a field that is not null; libraries write null for absent values.
    pub(super) fn some(&self, name: &str) -> Option<&'a str> {
        self.get(name).filter(|value| *value != "null")
    }

    /// Returns the text of a field, if it is a string.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).filter(|value| json::is_string(value)).map(json::decode)
    }

    /// Returns its `type`, empty if it has none.
    pub(super) fn kind(&self) -> Cow<'a, str> {
        self.text("type").unwrap_or_default()
    }

    /// Returns the names of its fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// Returns the fields except some, in their order.
    pub(super) fn without<'s>(&'s self, names: &[&str]) -> impl Iterator<Item = (&'s str, &'a str)> {
        self.0.iter().map(|(key, value)| (&**key, *value)).filter(move |(key, _)| !names.contains(key))
    }
}

/// Writes an object.
pub(super) struct Writer(String);

impl Writer {
    /// Creates an object with a first text field.
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self::empty().put(name, &json::encode(text))
    }

    /// Creates an object without fields.
    pub(super) fn empty() -> Self {
        Self("{".to_owned())
    }

    /// Adds a field with this JSON text.
    pub(super) fn put(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push_str(", ");
        }
        self.0.push_str(&json::encode(name));
        self.0.push_str(": ");
        self.0.push_str(value);
        self
    }

    /// Adds a field, if there is a value.
    pub(super) fn put_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.put(name, value),
            None => self,
        }
    }

    /// Adds fields.
    pub(super) fn put_all<'a>(self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        fields.into_iter().fold(self, |writer, (name, value)| writer.put(name, value))
    }

    /// Adds the fields of an object, if there is one.
    pub(super) fn put_fields(self, object: Option<&str>) -> Self {
        match object.map(Object::of) {
            Some(object) => self.put_all(object.without(&[])),
            None => self,
        }
    }

    /// Adds fields inside an object of their own, unless there are none.
    pub(super) fn put_within<'a>(self, name: &str, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let inner = Self::empty().put_all(fields).end();
        if inner == "{}" { self } else { self.put(name, &inner) }
    }

    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Returns the items of a list as written; none for another value.
pub(super) fn items(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    if json::is_list(list) {
        json::items(list, 0, |at| {
            let span = json::value(list, at);
            items.push(span.slice(list));
            span.end
        });
    }
    items
}

/// Returns a list of these items.
pub(super) fn list<Item: AsRef<str>>(items: &[Item]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(", "))
}

/// Whether a part is the text of a handoff.
pub(super) fn is_handoff<Part: AsRef<str>>(part: &Part) -> bool {
    Object::of(part.as_ref()).text("text").is_some_and(|text| handoff::begins(&text))
}

/// Moves a handoff before the other parts. In an item a thought may have to come before it, but the handoff
/// is the first text.
pub(super) fn with_handoff_first<Part: AsRef<str>>(mut parts: Vec<Part>) -> Vec<Part> {
    if let Some(at) = parts.iter().position(is_handoff) {
        parts.get_mut(..=at).unwrap_or_default().rotate_right(1);
    }
    parts
}

/// Returns the text of a part that is only `{"type": "text", "text": …}`.
pub(super) fn only_text(part: &str) -> Option<&str> {
    let object = Object::of(part);
    let is_plain = object.kind() == "text" && object.without(&["type", "text"]).next().is_none();
    object.get("text").filter(|text| is_plain && json::is_string(text))
}

/// Removes white space between tokens and unnecessary escapes in strings. So the same value has the same
/// text, whatever library wrote it.
pub(super) fn compact(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(quote) = rest.find('"') {
        let end = json::string_end(rest.as_bytes(), quote);
        out.extend(rest.get(..quote).unwrap_or_default().chars().filter(|char| !char.is_ascii_whitespace()));
        out.push_str(&json::encode(&json::decode(rest.get(quote..end).unwrap_or_default())));
        rest = rest.get(end..).unwrap_or_default();
    }
    out.extend(rest.chars().filter(|char| !char.is_ascii_whitespace()));
    out
}

/// Whether a text is a JSON object.
pub(super) fn is_object(text: &str) -> bool {
    text.starts_with('{') && text.ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Returns the text of a value, if it is a string.
pub(super) fn string(value: &str) -> Option<Cow<'_, str>> {
    json::is_string(value).then(|| json::decode(value))
}
