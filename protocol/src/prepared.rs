//! Results that are written once and answered many times.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::{Json, Method};

/// A result of a method as JSON that was written before; answering it copies the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The method whose result it is.
    pub method: Method,
    /// The result.
    pub json: Arc<Json>,
}

impl Serialize for Prepared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}
