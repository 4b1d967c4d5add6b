//! `context.schema`: functions with which a model marks what it no longer needs.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaParams {}

/// Result of `context.schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaResult {
    /// The function schemas that let a model discard outputs, and open and close episodes.
    pub tools: Vec<Json>,
}
