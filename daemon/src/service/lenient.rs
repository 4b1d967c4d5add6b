//! Stored JSON objects, read field by field: what another version wrote, or what can't be
//! read, costs one field and never all of them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The object that a text holds. A text that holds none counts as empty, with a line in the
/// log that names `what` it was.
pub(crate) fn object(what: &str, text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!("{what} can't be read: {error}");
        Map::new()
    })
}

/// Takes a field out; its default where it is missing, or, with a line in the log, where it
/// can't be read.
pub(crate) fn take<T: DeserializeOwned + Default>(what: &str, object: &mut Map<String, Value>, name: &str) -> T {
    let Some(value) = object.remove(name) else { return T::default() };
    serde_json::from_value(value).unwrap_or_else(|error| {
        tracing::warn!("{what}: `{name}` can't be read: {error}");
        T::default()
    })
}
