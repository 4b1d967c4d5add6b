//! Entities in JSON: an object that has a name of its own, with its fields.

use serde_json::{Map, Value as Json};

/// An object with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) id: String,
    /// Names and values, in their order.
    pub(super) fields: Vec<(String, String)>,
    /// It is one of several: what it says may hold for what was asked alone.
    pub(super) is_row: bool,
}

/// Fields of one object that are looked at.
const MOST_FIELDS: usize = 40;
/// Chars of one field's value that are kept.
const VALUE_CHARS: usize = 360;
/// Chars of the longest name.
const ID_CHARS: usize = 120;
/// Objects of one text that are kept.
const MOST_OBJECTS: usize = 400;
/// How deep objects are looked for.
const DEEPEST: usize = 6;

/// Names of fields that name the object which they stand in, the surest first. A field that ends with
/// `_id` comes right behind the first.
const NAMING: &[&str] = &[
    "id",
    "uuid",
    "key",
    "path",
    "file_path",
    "file",
    "filename",
    "number",
    "code",
    "sku",
    "slug",
    "sha",
    "commit",
    "branch",
    "url",
    "email",
    "username",
    "pid",
    "name",
    "title",
    "test",
];

/// Ends of names that an id has, whatever stands before them.
const ID_ENDS: &[&str] = &["_id", "Id", "ID", "-id"];

/// Ends of names that number something.
const NUMBER_ENDS: &[&str] = &["_number", "Number", "_key", "_code", "_no"];

/// The objects of a value that have a name. `about` is what the call that gave it was about: the kind
/// and the name for an object that has none of its own; `thing` what the call's own name says of its result.
pub(super) fn objects(value: &Json, about: Option<(&str, &str)>, thing: &str) -> Vec<Object> {
    let mut found = Vec::new();
    walk(value, &Place { about, thing, left: DEEPEST, is_row: false }, &mut found);
    found
}

/// What is walked through, and how.
struct Place<'a> {
    about: Option<(&'a str, &'a str)>,
    thing: &'a str,
    left: usize,
    is_row: bool,
}

fn walk(value: &Json, place: &Place<'_>, found: &mut Vec<Object>) {
    let Place { about, thing, left, is_row } = *place;
    if left == 0 || found.len() >= MOST_OBJECTS {
        return;
    }
    match value {
        Json::Array(items) => {
            let row = Place { about: None, thing, left: left - 1, is_row: true };
            items.iter().for_each(|item| walk(item, &row, found));
        }
        Json::Object(fields) => {
            let given = || {
                let (kind, id) = about?;
                let is_wrapper = fields.len() < 2 || !fields.values().any(|value| is_plain(value) || value.is_object());
                (!is_wrapper).then(|| (kind.to_owned(), id.to_owned(), None))
            };
            let named = identity(fields, thing).or_else(given).or_else(|| name(fields, thing));
            let Some((kind, id, field)) = named else {
                for (name, value) in fields.iter().take(MOST_FIELDS) {
                    let thing = match value {
                        Json::Array(_) => singular(name),
                        _ => name,
                    };
                    walk(value, &Place { about: None, thing, left: left - 1, is_row }, found);
                }
                return;
            };
            let rest = fields.iter().filter(|(name, _)| Some(name.as_str()) != field).take(MOST_FIELDS);
            let fields = rest.filter_map(|(name, value)| {
                let value = line(value, VALUE_CHARS);
                (!value.is_empty()).then(|| (name.clone(), value))
            });
            found.push(Object { kind, id, fields: fields.collect(), is_row });
        }
        _ => {}
    }
}

/// Kind, name, and the field that has the name.
fn identity<'a>(fields: &'a Map<String, Json>, thing: &str) -> Option<(String, String, Option<&'a str>)> {
    let named = |name: &str| fields.get_key_value(name).and_then(|(key, value)| Some((key.as_str(), name_of(value)?)));
    let ends = |ends: &[&str]| {
        fields.iter().find_map(|(key, value)| {
            let of = ends.iter().find_map(|end| key.strip_suffix(end)).filter(|of| !of.is_empty())?;
            let is_result = matches!(of, "exit" | "status" | "return" | "response" | "error");
            Some((key.as_str(), of, name_of(value).filter(|_| !is_result)?))
        })
    };
    if let Some((key, id)) = named("id") {
        return Some((singular(thing).to_owned(), id, Some(key)));
    }
    if let Some((key, of, id)) = ends(ID_ENDS).or_else(|| ends(NUMBER_ENDS)) {
        return Some((of.to_owned(), id, Some(key)));
    }
    None
}

/// The same by a field that may name something else, too.
fn name<'a>(fields: &'a Map<String, Json>, thing: &str) -> Option<(String, String, Option<&'a str>)> {
    let named = |name: &str| fields.get_key_value(name).and_then(|(key, value)| Some((key.as_str(), name_of(value)?)));
    let (key, id) = NAMING.iter().find_map(|name| named(name))?;
    let kind = match key {
        "path" | "file_path" | "filename" => "file",
        "name" | "title" | "key" | "code" | "number" | "slug" | "uuid" => singular(thing),
        other => other,
    };
    Some((kind.to_owned(), id, Some(key)))
}

/// A value that can name something.
fn name_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => {
            let text = text.trim();
            (!text.is_empty() && text.len() <= ID_CHARS && !text.contains('\n')).then(|| text.to_owned())
        }
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_plain(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Number(_) | Json::Bool(_))
}

/// A value on one line of at most so many chars: of longer ones whole parts, and how many are left out.
pub(super) fn line(value: &Json, chars: usize) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => match text.len() <= chars {
            true => text.split_whitespace().collect::<Vec<_>>().join(" "),
            false => String::new(),
        },
        Json::Array(items) => {
            let parts = items.iter().map(|item| line(item, chars));
            joined(parts.filter(|part| !part.is_empty()).collect(), ", ", chars)
        }
        Json::Object(fields) => {
            // The key is said again where it is the object's own name.
            let parts = fields.iter().map(|(name, value)| match (value, line(value, chars)) {
                (_, part) if part.is_empty() => part,
                (Json::Bool(_), part) => format!("{name} {part}"),
                (Json::Object(inner), part) if !inner.values().any(|value| value.as_str() == Some(name)) => {
                    format!("{name} {part}")
                }
                (_, part) => part,
            });
            joined(parts.filter(|part| !part.is_empty()).collect(), " ", chars)
        }
    }
}

/// The fields of a value with their names, in so many chars.
pub(crate) fn fields(value: &Json, chars: usize) -> String {
    let Json::Object(fields) = value else { return line(value, chars) };
    let parts = fields.iter().filter_map(|(name, value)| {
        let value = line(value, chars / 2);
        (!value.is_empty()).then(|| format!("{name} {value}"))
    });
    joined(parts.collect(), "; ", chars)
}

/// As many parts as fit.
fn joined(parts: Vec<String>, by: &str, chars: usize) -> String {
    let mut text = String::new();
    let count = parts.len();
    for (at, part) in parts.into_iter().enumerate() {
        if text.len() + by.len() + part.len() > chars {
            let left = count - at;
            return if text.is_empty() { String::new() } else { format!("{text} … {left} more") };
        }
        if !text.is_empty() {
            text.push_str(by);
        }
        text.push_str(&part);
    }
    text
}

/// `flights` are of the kind `flight`.
pub(super) fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(value: &Json, about: Option<(&str, &str)>, thing: &str) -> Vec<String> {
        let told = |object: Object| {
            let fields: Vec<String> = object.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}: {}", object.kind, object.id, fields.join("; "))
        };
        objects(value, about, thing).into_iter().map(told).collect()
    }

    #[test]
    fn an_object_is_known_by_its_name() {
        let reservation = json!({"reservation_id": "UM3OG5", "user_id": "omar_1", "cabin": "economy", "insurance": null,
            "flights": [{"flight_number": "HAT113", "date": "2024-05-26", "price": 100}, {"flight_number": "HAT282"}]});
        assert_eq!(
            told(&reservation, None, "details"),
            ["reservation UM3OG5: user_id=omar_1; cabin=economy; flights=HAT113 2024-05-26 100, HAT282"]
        );
        let user =
            json!({"name": {"first": "Omar", "last": "Rossi"}, "methods": {"card_1": {"id": "card_1", "amount": 5}}});
        assert_eq!(
            told(&user, Some(("user", "omar_1")), "details"),
            ["user omar_1: name=Omar Rossi; methods=card_1 5"]
        );
        let rows = json!({"total": 2, "issues": [{"number": 7, "title": "slow"}, {"number": 9, "title": "fast"}]});
        assert_eq!(told(&rows, None, "list"), ["issue 7: title=slow", "issue 9: title=fast"]);
        assert_eq!(told(&json!({"path": "a/b.rs", "lines": 3}), None, "x"), ["file a/b.rs: lines=3"]);
        assert!(told(&json!({"ok": true}), None, "x").is_empty());
        assert!(told(&json!([1, "two", null, [[[[[[[{"id": 1}]]]]]]]]), None, "x").is_empty());
    }

    #[test]
    fn long_values_end_at_a_part() {
        let many: Vec<u32> = (0..500).collect();
        let line = line(&json!(many), 60);
        assert!(line.chars().count() <= 75 && line.ends_with(" more"), "{line}");
        assert_eq!(super::line(&json!("x".repeat(100)), 60), "");
    }
}
