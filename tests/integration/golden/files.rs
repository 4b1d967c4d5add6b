//! The golden files of the protocol's versions, and the changes that a later version may make.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Returns the folder of protocol 2. Its files never change, because old clients keep using that protocol.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join("v2")
}

/// Returns a golden file. `HERMA_BLESS=1` writes `today` if the file is missing. An existing file never changes.
pub(crate) fn golden(name: &str, today: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("HERMA_BLESS").is_some_and(|bless| bless == "1") && !path.exists() {
        fs::write(&path, today).unwrap();
    }
    fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; HERMA_BLESS=1 writes it, if the method is new", path.display()))
}

/// Checks that `after` has everything in `before`, with the same values. Ignores new fields of objects.
#[track_caller]
pub(crate) fn assert_grown(before: &Value, after: &Value, name: &str) {
    if let Some(place) = lost(before, after) {
        panic!("{name}: {place} is another one than in the golden file; that would be a new protocol version");
    }
}

fn lost(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before.iter().find_map(|(name, value)| {
            let place = after.get(name).map_or(Some(String::new()), |grown| lost(value, grown));
            place.map(|place| format!(".{name}{place}"))
        }),
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let mut pairs = before.iter().zip(after).enumerate();
            pairs.find_map(|(at, (value, grown))| lost(value, grown).map(|place| format!("[{at}]{place}")))
        }
        (before, after) => (before != after).then(String::new),
    }
}

#[test]
fn only_members_of_objects_may_be_added() {
    let before = serde_json::json!({ "a": [{ "b": 1 }], "c": null });
    for (after, place) in [
        (serde_json::json!({ "new": 0, "c": null, "a": [{ "new": {}, "b": 1 }] }), None),
        (serde_json::json!({ "a": [{ "b": 2 }], "c": null }), Some(".a[0].b")),
        (serde_json::json!({ "a": [{ "b": 1 }, 2], "c": null }), Some(".a")),
        (serde_json::json!({ "a": [{ "b": 1 }] }), Some(".c")),
        (serde_json::json!({ "a": [1], "c": null }), Some(".a[0]")),
    ] {
        assert_eq!(lost(&before, &after).as_deref(), place, "{after}");
    }
}
