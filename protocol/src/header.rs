//! Params that every request accepts in addition to its own.

use serde::{Deserialize, Serialize};

/// The params that every method accepts. In both codecs they are among the method's own params.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The profile to use; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Milliseconds after which the caller no longer needs a reply; the request is then answered
    /// with `deadline_exceeded`. At most [`crate::limits::DEADLINE_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// Identifies this mutation. A repeated request with the same key within
    /// [`crate::limits::IDEMPOTENCY_S`] gets the first result and changes nothing. Reads ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Not sent: the number of lone surrogates that the reader of the request replaced with U+FFFD.
    #[serde(skip)]
    pub replaced: usize,
}

impl Header {
    /// The names of these params in the JSON.
    pub const NAMES: [&'static str; 3] = ["profile", "deadline_ms", "idempotency_key"];
}
