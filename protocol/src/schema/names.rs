//! Names of the schema's definitions.
//!
//! In Rust each resource has its own module, but the schema has a single list of names. There, the
//! result of `memory.list`, declared as `ListResult`, is `MemoryList`. Every other type keeps its
//! name, or has a name from `schemars(rename)` if its own is unclear outside of its module.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The prefix of references to definitions.
const DEFS: &str = "#/$defs/";

/// Gives every definition its name.
///
/// # Panics
/// If two definitions would have the same name, or one was numbered because two types share a name.
pub(super) fn settle(schema: &mut Value) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for method in schema["methods"].as_array().into_iter().flatten() {
        let (Some(method), Some(found)) = (method["name"].as_str(), method["result"]["$ref"].as_str()) else {
            continue;
        };
        let found = found.trim_start_matches(DEFS);
        let own = camel(method.rsplit('.').next().unwrap_or_default());
        if found.trim_end_matches(|last: char| last.is_ascii_digit()) == format!("{own}Result") {
            names.insert(found.to_owned(), method.split('.').map(camel).collect());
        }
    }
    rename_references(schema, &names);
    let Some(Value::Object(defs)) = schema.get_mut("$defs") else { return };
    let mut named = Map::new();
    for (found, def) in std::mem::take(defs) {
        let name = names.get(&found).unwrap_or(&found).clone();
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "two types are called {name}: rename one");
        assert!(named.insert(name.clone(), def).is_none(), "two types are called {name}: rename one");
    }
    named.sort_keys();
    *defs = named;
}

fn rename_references(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(name) = names.get(reference.trim_start_matches(DEFS))
            {
                *reference = format!("{DEFS}{name}");
            }
            members.values_mut().for_each(|member| rename_references(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, names)),
        _ => {}
    }
}

/// Converts `next_title` to `NextTitle`.
fn camel(snake: &str) -> String {
    let part = |part: &str| part.get(..1).unwrap_or_default().to_uppercase() + part.get(1..).unwrap_or_default();
    snake.split('_').map(part).collect()
}
