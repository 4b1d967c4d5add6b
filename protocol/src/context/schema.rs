//! `context.schema`: how a model may say what it is done with.

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
