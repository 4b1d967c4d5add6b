//! Params and results of the profile methods.

use serde::{Deserialize, Serialize};

/// Params of `profile.create`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CreateParams {
    /// 1 to 64 letters, digits, `_` and `-`.
    pub name: String,
}

/// Result of `profile.create`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CreateResult {
    /// False if the profile already existed.
    pub created: bool,
}

/// Params of `profile.list`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {}

/// Result of `profile.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The profiles of the home: `default` first, then the others by name.
    pub profiles: Vec<Profile>,
}

/// A named pair of stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Limit of its MEMORY.md in chars.
    pub memory_limit: u64,
    /// Limit of its USER.md in chars.
    pub user_limit: u64,
}
