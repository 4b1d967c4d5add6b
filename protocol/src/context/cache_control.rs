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
    /// The lifetime of the cache; `5m` when absent.
    pub ttl: Option<Ttl>,
    /// Whether the endpoint accepts cache marks on tool messages; false when absent.
    pub native: Option<bool>,
}

/// The lifetime of a prompt cache.
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
    /// The conversation with cache marks.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
}
