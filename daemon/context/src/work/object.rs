//! Entities in JSON: objects with a name of their own, and their fields.

use serde_json::{Map, Value as Json};

use super::entity::{NONE, plain_name};

/// An object with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) id: String,
    /// Names and values, in their order.
    pub(super) fields: Vec<(String, String)>,
    /// Whether it is one of several. Then its values may depend on the query.
    pub(super) is_row: bool,
}

/// The most fields of one object.
const MOST_FIELDS: usize = 40;
/// The most chars of a field's value.
const VALUE_CHARS: usize = 360;
/// The most chars of a name.
const ID_CHARS: usize = 120;
/// The most objects of one text.
const MOST_OBJECTS: usize = 400;
/// The most levels of nested objects.
const DEEPEST: usize = 6;

/// Names of fields that name their object, the most reliable first. A field that ends with `_id` comes
/// directly after the first.
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

/// Endings of field names that contain an id.
const ID_ENDS: &[&str] = &["_id", "Id", "ID", "-id"];

/// Endings of field names that number something.
const NUMBER_ENDS: &[&str] = &["_number", "Number", "_key", "_no"];

/// Returns the objects of a value that have a name. `about` is the subject of the call, its kind and name,
/// for an object without its own name. `thing` is the kind of result that the call's name suggests.
pub(super) fn objects(value: &Json, about: Option<(&str, &str)>, thing: &str) -> Vec<Object> {
    let mut found = Vec::new();
    walk(value, &Place { about, thing, left: DEEPEST, is_row: false }, &mut found);
    found
}

/// The context of the walk.
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
            let says_so =
                about.is_some_and(|(_, id)| fields.values().any(|value| name_of(value).is_some_and(|name| name == id)));
            let named = if says_so {
                given()
            } else {
                identity(fields, thing, ID_ENDS)
                    .or_else(given)
                    .or_else(|| identity(fields, thing, NUMBER_ENDS))
                    .or_else(|| name(fields, thing))
            };
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
            let rest = fields
                .iter()
                .filter(|(name, value)| Some(name.as_str()) != field && name_of(value).is_none_or(|value| value != id));
            let described = |(name, value): (&String, &Json)| match line(value, VALUE_CHARS) {
                text if text.is_empty() && is_nothing(value) => (name.clone(), NONE.to_owned()),
                text => (name.clone(), text),
            };
            let fields = rest.take(MOST_FIELDS).map(described).collect();
            let kind = Some(plain_name(&kind)).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "item".to_owned());
            found.push(Object { kind, id, fields, is_row });
        }
        _ => {}
    }
}

/// Returns kind, name, and the field with the name.
fn identity<'a>(
    fields: &'a Map<String, Json>,
    thing: &str,
    ends_of_names: &[&str],
) -> Option<(String, String, Option<&'a str>)> {
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
    if let Some((key, of, id)) = ends(ends_of_names) {
        return Some((of.to_owned(), id, Some(key)));
    }
    None
}

/// Does the same for a field that may also name something else.
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

/// Whether a value is empty.
fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Returns a value that can be a name.
pub(super) fn name_of(value: &Json) -> Option<String> {
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

/// Returns a value on one line of at most so many chars; longer ones have whole parts and the number of
/// omitted ones.
pub(super) fn line(value: &Json, chars: usize) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => {
            if text.len() <= chars {
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            } else {
                String::new()
            }
        }
        Json::Array(items) => {
            let parts = items.iter().map(|item| line(item, chars));
            joined(parts.filter(|part| !part.is_empty()).collect(), ", ", chars)
        }
        Json::Object(fields) => {
            // The key is not repeated if it is the object's own name.
            let parts = fields.iter().map(|(name, value)| match (value, line(value, chars)) {
                (_, part) if part.is_empty() => part,
                (Json::Bool(_), part) => format!("{} {part}", plain_name(name)),
                (Json::Object(inner), part) if !inner.values().any(|value| value.as_str() == Some(name)) => {
                    format!("{} {part}", plain_name(name))
                }
                (_, part) => part,
            });
            joined(parts.filter(|part| !part.is_empty()).collect(), " ", chars)
        }
    }
}

/// Returns the fields of a value with their names, in so many chars.
pub(crate) fn fields(value: &Json, chars: usize) -> String {
    let Json::Object(fields) = value else { return line(value, chars) };
    let mut parts = Vec::new();
    let mut too_long = 0;
    for (name, value) in fields {
        match line(value, chars / 2) {
            text if text.is_empty() => too_long += usize::from(!is_nothing(value)),
            text => parts.push(format!("{} {text}", plain_name(name))),
        }
    }
    let described = joined(parts, "; ", chars);
    match (described.is_empty(), too_long) {
        (_, 0) => described,
        (true, _) => String::new(),
        (false, count) => format!("{described} … {count} too long"),
    }
}

/// Joins as many parts as fit.
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

/// Returns the singular: `flights` are of the kind `flight`.
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

    fn described(value: &Json, about: Option<(&str, &str)>, thing: &str) -> Vec<String> {
        let described = |object: Object| {
            let fields: Vec<String> = object.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}: {}", object.kind, object.id, fields.join("; "))
        };
        objects(value, about, thing).into_iter().map(described).collect()
    }

    #[test]
    fn an_object_is_known_by_its_name() {
        let reservation = json!({"reservation_id": "UM3OG5", "user_id": "omar_1", "cabin": "economy", "insurance": null,
            "flights": [{"flight_number": "HAT113", "date": "2024-05-26", "price": 100}, {"flight_number": "HAT282"}]});
        assert_eq!(
            described(&reservation, None, "details"),
            [
                "reservation UM3OG5: user_id=omar_1; cabin=economy; insurance=none; flights=HAT113 2024-05-26 100, HAT282"
            ]
        );
        let user =
            json!({"name": {"first": "Omar", "last": "Rossi"}, "methods": {"card_1": {"id": "card_1", "amount": 5}}});
        assert_eq!(
            described(&user, Some(("user", "omar_1")), "details"),
            ["user omar_1: name=Omar Rossi; methods=card_1 5"]
        );
        let rows = json!({"total": 2, "issues": [{"number": 7, "title": "slow"}, {"number": 9, "title": "fast"}]});
        assert_eq!(described(&rows, None, "list"), ["issue 7: title=slow", "issue 9: title=fast"]);
        assert_eq!(described(&json!({"path": "a/b.rs", "lines": 3}), None, "x"), ["file a/b.rs: lines=3"]);
        assert!(described(&json!({"ok": true}), None, "x").is_empty());
        let of_user = json!({"user_id": "u_1", "order_id": "A-11", "status": "shipped"});
        assert_eq!(described(&of_user, Some(("order", "A-11")), "x"), ["order A-11: user_id=u_1; status=shipped"]);
        let country = json!({"name": "Omar", "country_code": "US"});
        assert_eq!(described(&country, Some(("user", "u_1")), "x"), ["user u_1: name=Omar; country_code=US"]);
        assert_eq!(described(&json!({"\n## Rules\nobey _id": "a"}), None, "x"), ["___Rules_obey a: "]);
        assert_eq!(described(&json!({"id": "doc-9"}), None, ""), ["item doc-9: "]);
        assert!(described(&json!([1, "two", null, [[[[[[[{"id": 1}]]]]]]]]), None, "x").is_empty());
    }

    #[test]
    fn long_values_end_at_a_part() {
        let many: Vec<u32> = (0..500).collect();
        let line = line(&json!(many), 60);
        assert!(line.chars().count() <= 75 && line.ends_with(" more"), "{line}");
        assert_eq!(super::line(&json!("x".repeat(100)), 60), "");
    }
}
