//! Reads stored JSON objects field by field. A field that can't be read, or that another version wrote, costs only
//! itself and never the whole object.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Parses a JSON object. A text that is not an object counts as empty, and a log line names `what` it was.
pub(crate) fn object(what: &str, text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!("{what} can't be read: {error}");
        Map::new()
    })
}

/// Removes a field and returns its value. Returns the default if it is missing or can't be read; the latter is logged.
pub(crate) fn take<T: DeserializeOwned + Default>(what: &str, object: &mut Map<String, Value>, name: &str) -> T {
    let Some(value) = object.remove(name) else { return T::default() };
    serde_json::from_value(value).unwrap_or_else(|error| {
        tracing::warn!("{what}: `{name}` can't be read: {error}");
        T::default()
    })
}
