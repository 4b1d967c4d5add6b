//! Results that are serialized once and sent many times.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Method, Reply};

/// A serialized result of a method; sending it only copies the text.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The method that returned it.
    pub method: Method,
    /// The JSON of the result.
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

impl Reply {
    /// Returns the result with an additional member `request_warnings`; unchanged if it is not an object.
    #[must_use]
    pub fn with_warning(self, words: &str) -> Self {
        let method = self.method();
        match warned(&self, words) {
            Some(json) => Self::Prepared(Prepared { method, json }),
            None => self,
        }
    }
}

fn warned(reply: &Reply, words: &str) -> Option<Arc<RawValue>> {
    let text = serde_json::to_string(reply).ok()?;
    let members = text.strip_prefix('{')?.strip_suffix('}')?;
    let comma = if members.trim().is_empty() { "" } else { "," };
    let warnings = serde_json::to_string(&[words]).ok()?;
    RawValue::from_string(format!("{{{members}{comma}\"request_warnings\":{warnings}}}")).ok().map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::PingResult;
    use crate::session::lock::LockHolderResult;

    #[test]
    fn a_warning_stands_beside_what_the_result_has() {
        for (reply, expected) in [
            (Reply::Ping(PingResult {}), r#"{"request_warnings":["mind \"this\""]}"#),
            (
                Reply::SessionLockHolder(LockHolderResult { holder: None }),
                r#"{"holder":null,"request_warnings":["mind \"this\""]}"#,
            ),
        ] {
            let method = reply.method();
            let warned = reply.with_warning("mind \"this\"");
            assert_eq!(serde_json::to_string(&warned).ok().as_deref(), Some(expected));
            assert_eq!(warned.method(), method);
        }
    }
}
