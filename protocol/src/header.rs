//! What every request may carry besides its own params.

use serde::{Deserialize, Serialize};

/// The params that every method takes. They stand among the other params, in both
/// codecs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The profile that the request means; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Milliseconds after which the caller no longer wants an answer; the
    /// request is then answered `deadline_exceeded`. At most
    /// [`crate::limits::DEADLINE_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// Names this mutation: a repetition with the same key within
    /// [`crate::limits::IDEMPOTENCY_S`] answers the first result instead of
    /// doing it again. Reads ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Not sent: how many halves of surrogate pairs the reader of the request took for U+FFFD.
    #[serde(skip)]
    pub replaced: usize,
}

impl Header {
    /// The names of these params on the JSON wire.
    pub const NAMES: [&'static str; 3] = ["profile", "deadline_ms", "idempotency_key"];
}
