//! Params and results of the constraint methods: rules of the user that every compression keeps word for word.

use serde::{Deserialize, Serialize};

/// Params of `constraint.add`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddParams {
    /// The session's id.
    pub session: String,
    /// The rule, in the user's words.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// How long the rule applies; `standing` when absent.
    pub scope: Option<Scope>,
}

/// How long a constraint applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ConstraintScope"))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until it is removed or revoked.
    #[default]
    Standing,
    /// For the current task.
    Once,
}

/// Result of `constraint.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddResult {
    /// The constraint's id, unique within its session.
    pub id: String,
}

/// Params of `constraint.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// The session's id.
    pub session: String,
}

/// Result of `constraint.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The constraints in force, oldest first.
    pub constraints: Vec<Constraint>,
}

/// A rule of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Constraint {
    /// Its id, unique within its session.
    pub id: String,
    /// The user's words.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// How long it applies.
    pub scope: Scope,
    /// Where it comes from.
    pub source: Source,
    /// When it was added, in Unix seconds.
    pub at: f64,
}

/// Where a constraint comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ConstraintSource"))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A caller added it with `constraint.add`.
    Explicit,
    /// It was detected in a message of the user.
    Found,
}

/// Params of `constraint.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The session's id.
    pub session: String,
    /// The constraint's id.
    pub id: String,
}

/// Result of `constraint.remove`: empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveResult {}
