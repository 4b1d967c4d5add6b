//! The wire form of an [`RpcError`]: the error object of JSON-RPC, in both codecs.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{ErrorKind, RpcError};

/// The fields of `data` that every error has, before its own details.
const KNOWN: [&str; 3] = ["kind", "retry", "fault"];

impl Serialize for RpcError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut data = Map::new();
        data.insert("kind".into(), self.kind.name().into());
        data.insert("retry".into(), self.kind.retry().into());
        data.insert("fault".into(), serde_json::to_value(self.kind.fault()).unwrap_or_default());
        let details =
            self.details.as_ref().and_then(|details| serde_json::from_str::<Map<String, Value>>(details.get()).ok());
        for (name, value) in details.unwrap_or_default() {
            data.entry(name).or_insert(value);
        }
        let mut object = serializer.serialize_struct("RpcError", 3)?;
        object.serialize_field("code", &self.kind.code())?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("data", &data)?;
        object.end()
    }
}

impl<'de> Deserialize<'de> for RpcError {
    /// Reads a code that this build doesn't know as `internal`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            code: i32,
            message: String,
            #[serde(default)]
            data: Map<String, Value>,
        }
        let Members { code, message, mut data } = Members::deserialize(deserializer)?;
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code).unwrap_or(ErrorKind::Internal);
        for known in KNOWN {
            data.shift_remove(known);
        }
        let error = Self::new(kind, message);
        Ok(if data.is_empty() { error } else { error.with_details(&data) })
    }
}
