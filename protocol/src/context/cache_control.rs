//! `context.cache_control`.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.cache_control`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheControlParams {
    /// The conversation.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// How long the cache is to live; `5m` when absent.
    pub ttl: Option<Ttl>,
    /// Whether the endpoint takes marks on tool messages; no when absent.
    pub native: Option<bool>,
}

/// How long a prompt cache lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CacheTtl"))]
pub enum Ttl {
    /// Five minutes.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour.
    #[serde(rename = "1h")]
    OneHour,
}

/// Result of `context.cache_control`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheControlResult {
    /// The conversation with its marks.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
}
