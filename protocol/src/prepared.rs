//! Results that are written once and answered many times.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Method;

/// A result of a method as JSON that was written before; answering it copies the text.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The method whose result it is.
    pub method: Method,
    /// The result.
    pub json: Arc<RawValue>,
}

impl PartialEq for Prepared {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && self.json.get() == other.json.get()
    }
}

impl Serialize for Prepared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}
