//! Reads messages, newest first.

use hashbrown::HashSet;
use rayon::prelude::*;
use serde_json::Value as Json;

use super::digits::{self, Ids};
use super::entity::{Attribute, has_name, noun};
use super::value::{Value, ValueKind, value, values};
use super::{WorkState, object, places, tests};
use crate::handoff;
use crate::message::{Content, Message, Role};
use crate::pairs;
use crate::parallel::MANY_MESSAGES;
use crate::text::ends;

/// Bytes of one text of a person or the model that are read; a longer one is read at both ends.
const TEXT_BYTES: usize = 32 << 10;
/// Bytes of one output that are read; a longer one is read at both ends.
const OUTPUT_BYTES: usize = 1 << 20;
/// Bytes of the longest output that is parsed as JSON.
const JSON_BYTES: usize = 32 << 10;
/// Bytes of all outputs that are read, newest first. Names in older outputs count only if calls or people use
/// them. It limits the time.
const OUTPUTS_BYTES: usize = 2 << 20;
/// The most bytes of arguments that are read.
const ARGUMENT_BYTES: usize = 64 << 10;
/// The most chars of an argument that is shown with the action of a call.
const SHORT_ARGUMENT: usize = 24;
/// The most names that are read from one output without fields.
const MOST_OF_OUTPUT: usize = 1_000;

/// Reads the messages; the first one has the position `first`.
pub(super) fn read(turns: &[Message], first: u64) -> WorkState {
    let callers = pairs::callers(turns);
    let mut parts: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
    let mut bytes = 0;
    for at in (0..turns.len()).rev() {
        let is_read = bytes < OUTPUTS_BYTES;
        bytes += if turns[at].is(Role::Tool) { turns[at].raw().len().min(OUTPUT_BYTES) } else { 0 };
        match parts.last_mut() {
            Some((part, reads)) if part.len() < MANY_MESSAGES && *reads == is_read => part.start = at,
            _ => parts.push((at..at + 1, is_read)),
        }
    }
    let read = |(part, is_read): &(std::ops::Range<usize>, bool)| {
        let mut reader = Reader { state: WorkState::default(), at: 0 };
        for at in part.clone().rev() {
            reader.at = first + at as u64;
            let call = callers.get(at).copied().flatten().and_then(|(at, index)| Some((turns.get(at)?, index)));
            reader.message(&turns[at], call, *is_read);
        }
        reader.state
    };
    let read: Vec<WorkState> = parts.par_iter().map(read).collect();
    let mut state = WorkState::default();
    read.into_iter().for_each(|older| state.append(older));
    state.messages = first + turns.len() as u64;
    state
}

struct Reader {
    state: WorkState,
    /// The position of the current message.
    at: u64,
}

impl Reader {
    fn message(&mut self, message: &Message, call: Option<(&Message, usize)>, is_read: bool) {
        let own = handoff::without_handoff(message);
        let message = own.as_ref().unwrap_or(message);
        match message.role() {
            Role::Tool if is_read => self.result(message, call),
            Role::Tool | Role::System => {}
            _ if handoff::is_only_handoff(message) => {}
            Role::Assistant => {
                for call in message.tool_calls() {
                    let text = message.arguments(call);
                    let arguments = parsed(&text);
                    self.given(&text, arguments.as_ref());
                    self.done(call.name.as_deref().unwrap_or(""), arguments.as_ref());
                }
                self.said(&message.shown_text());
            }
            _ => self.said(&message.shown_text()),
        }
    }

    /// Reads the arguments of a call; argument names don't count.
    fn given(&mut self, text: &str, arguments: Option<&Json>) {
        let at = self.at;
        let mut given = |value: &Value<'_>, kind: &str| {
            let Some(entity) = self.state.entity(value.text, kind) else { return };
            entity.given = entity.given.saturating_add(1);
            entity.last = entity.last.max(at);
        };
        match arguments {
            Some(arguments) => in_fields(arguments, "", &mut |field, text| with_kinds(text, field, &mut given)),
            None => ends(text, TEXT_BYTES).into_iter().for_each(|text| with_kinds(text, Field::default(), &mut given)),
        }
    }

    /// Reads texts of people and the model.
    fn said(&mut self, text: &str) {
        // Who is asked for a number answers with it alone.
        if digits::is_long(text.trim()) {
            return self.named(text.trim(), "id");
        }
        for text in ends(text, TEXT_BYTES) {
            with_kinds(text, Field::default(), &mut |value, kind| self.named(value.text, kind));
        }
    }

    fn named(&mut self, name: &str, kind: &str) {
        let Some(entity) = self.state.entity(name, kind) else { return };
        entity.said = entity.said.saturating_add(1);
        entity.last = entity.last.max(self.at);
    }

    /// Records what a call did to the file in its arguments, with its short arguments.
    fn done(&mut self, tool: &str, arguments: Option<&Json>) {
        let Some((key, place)) = arguments.and_then(main_argument) else { return };
        let Some(path) = value(&place).filter(|value| kind_of_key(key) == "file" && value.kind == ValueKind::Path)
        else {
            return;
        };
        let given = arguments.and_then(Json::as_object).into_iter().flatten();
        let with = given.filter(|(name, _)| *name != key).filter_map(|(name, value)| {
            let value = object::line(value, SHORT_ARGUMENT);
            (!value.is_empty()).then(|| format!(" {name} {value}"))
        });
        let at = self.at;
        let value = format!("{tool}{}", with.collect::<String>());
        if let Some(entity) = self.state.entity(path.text, "file") {
            entity.say_older(Attribute::of_row("last", &value, at));
        }
    }

    /// Reads the result of a call.
    fn result(&mut self, message: &Message, call: Option<(&Message, usize)>) {
        if !matches!(message.content(), Content::Text(_) | Content::List(_)) {
            return;
        }
        let text = message.shown_text();
        let call = call.and_then(|(message, index)| Some((message, message.tool_calls().get(index)?)));
        let tool = call.and_then(|(_, call)| call.name.as_deref()).unwrap_or("");
        let json = (text.starts_with(['{', '[']) && text.len() <= JSON_BYTES)
            .then(|| serde_json::from_str::<Json>(&text).ok())
            .flatten();
        let Some(json) = json else { return self.output(&text) };
        let arguments = call.and_then(|(message, call)| parsed(&message.arguments(call)));
        let about = arguments.as_ref().and_then(main_argument);
        let kind = |key: &str| match (kind_of_key(key), thing(tool)) {
            ("id", "") => "id".to_owned(),
            ("id", thing) => thing.to_owned(),
            (kind, _) => kind.to_owned(),
        };
        let about = about.map(|(key, id)| (kind(key), id)).filter(|(kind, _)| !kind.is_empty());
        let about = about.as_ref().map(|(kind, id)| (kind.as_str(), id.as_str()));
        for object in object::objects(&json, about, thing(tool)) {
            self.object(object);
        }
        // Texts with several lines are outputs of their own.
        in_fields(&json, "", &mut |field, text| {
            if text.contains('\n') {
                self.output(text);
            } else {
                with_kinds(text, field, &mut |value, kind| self.named(value.text, kind));
            }
        });
    }

    fn object(&mut self, object: object::Object) {
        let at = self.at;
        let Some(entity) = self.state.entity(&object.id, &object.kind) else { return };
        entity.last = entity.last.max(at);
        entity.said = entity.said.saturating_add(1);
        let attribute = if object.is_row { Attribute::of_row } else { Attribute::of };
        for (name, value) in &object.fields {
            entity.say_older(attribute(name, value, at));
        }
    }

    /// Reads an output without fields.
    fn output(&mut self, text: &str) {
        let mut names: HashSet<&str> = HashSet::new();
        for part in ends(text, OUTPUT_BYTES) {
            let at = self.at;
            for (test, result) in tests::results(part) {
                let Some(entity) = self.state.entity(test, "test") else { break };
                entity.last = entity.last.max(at);
                entity.say_older(Attribute::of("result", result, at));
            }
            for (name, place) in places::definitions(part) {
                let Some(entity) = self.state.entity(name, "name") else { break };
                entity.last = entity.last.max(at);
                entity.say_older(Attribute::of("at", &place, at));
            }
            for (number, kind) in digits::in_tables(part) {
                if has_room(&mut names, number) {
                    self.named(number, &kind);
                }
            }
            with_kinds(part, Field::default(), &mut |value, kind| {
                // A number has one kind in an output, the first.
                let kind = if value.kind == ValueKind::Number && names.contains(value.text) { "id" } else { kind };
                if has_name(kind) && has_room(&mut names, value.text) {
                    self.named(value.text, kind);
                }
            });
        }
    }
}

/// Whether an output may name one more thing; a name that it named already always may.
fn has_room<'a>(names: &mut HashSet<&'a str>, name: &'a str) -> bool {
    names.contains(name) || (names.len() < MOST_OF_OUTPUT && names.insert(name))
}

/// Calls `then` for every value of a text, with the kind of thing that it names.
fn with_kinds<'a>(text: &'a str, field: Field<'_>, then: &mut impl FnMut(&Value<'a>, &str)) {
    let mut ids = Ids::of(text);
    for value in values(text) {
        let kind = match value.kind {
            ValueKind::Number if value.text.len() == text.len() => {
                digits::kind_of_field(field.name, value.text, field.is_text)
            }
            ValueKind::Number => ids.kind_of(value.text.as_ptr().addr() - text.as_ptr().addr(), value.text),
            _ => None,
        };
        then(&value, kind.as_deref().unwrap_or(noun(value.kind)));
    }
}

/// Calls `then` for every text and number within a value, with the name of the nearest field around it.
fn in_fields(value: &Json, field: &str, then: &mut impl FnMut(Field<'_>, &str)) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| in_fields(item, field, then)),
        Json::Object(fields) => fields.iter().for_each(|(name, value)| in_fields(value, name, then)),
        plain => leaves(plain, &mut |text| then(Field { name: field, is_text: plain.is_string() }, text)),
    }
}

/// Where a text comes from.
#[derive(Clone, Copy, Default)]
struct Field<'a> {
    /// The name of its field; empty for a text that is no field.
    name: &'a str,
    /// Whether the field is a text, and not a number.
    is_text: bool,
}

/// Calls `then` for every text and number within a value.
pub(crate) fn leaves(value: &Json, then: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => then(text),
        Json::Number(number) => then(&number.to_string()),
        Json::Array(items) => items.iter().for_each(|item| leaves(item, then)),
        Json::Object(fields) => fields.values().for_each(|value| leaves(value, then)),
        Json::Null | Json::Bool(_) => {}
    }
}

/// Returns the argument that identifies the subject of a call: the first with the name of an id or a place.
fn main_argument(arguments: &Json) -> Option<(&str, String)> {
    let mut named = arguments.as_object()?.iter().filter(|(key, _)| !kind_of_key(key).is_empty());
    named.find_map(|(key, value)| Some((key.as_str(), object::name_of(value)?)))
}

/// Parses arguments that are JSON and not too long.
fn parsed(arguments: &str) -> Option<Json> {
    (arguments.len() <= ARGUMENT_BYTES).then(|| serde_json::from_str(arguments).ok()).flatten()
}

/// Returns the kind of subject that an argument name shows; empty if none.
fn kind_of_key(key: &str) -> &str {
    match key {
        "path" | "file_path" | "file" | "filename" | "notebook_path" => "file",
        "url" => "link",
        "id" => "id",
        "email" | "branch" | "session" | "order" | "user" | "username" | "sha" | "commit" => key,
        _ => ["_id", "Id", "_number", "_name"].iter().find_map(|end| key.strip_suffix(end)).unwrap_or(""),
    }
}

/// Returns the kind of result that a tool's name suggests: `get_user_details` returns `user`, `list_orders`
/// an `order`.
fn thing(tool: &str) -> &str {
    let parts = tool.split('_').filter(|part| !VERBS.contains(part) && part.len() > 2);
    object::singular(parts.into_iter().next_back().unwrap_or(""))
}

/// Words in tool names that are not kinds.
const VERBS: &[&str] = &[
    "get", "list", "search", "find", "read", "fetch", "show", "query", "look", "lookup", "update", "create", "delete",
    "add", "remove", "set", "check", "run", "details", "detail", "info", "by", "all", "for", "the", "direct", "call",
];
