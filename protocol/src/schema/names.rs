//! What the definitions of the schema are called.
//!
//! Each resource has its own module in Rust, and the schema has one list of names. The
//! result of `memory.list`, declared as `ListResult`, is called `MemoryList` there; every
//! other type keeps its name, or has another by `schemars(rename)` where its own says too
//! little outside of its module.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Where references to definitions begin.
const DEFS: &str = "#/$defs/";

/// Gives every definition its name.
///
/// # Panics
/// When two would have the same one, or one was numbered because two types are called alike.
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

/// `next_title` as `NextTitle`.
fn camel(snake: &str) -> String {
    let part = |part: &str| part.get(..1).unwrap_or_default().to_uppercase() + part.get(1..).unwrap_or_default();
    snake.split('_').map(part).collect()
}
