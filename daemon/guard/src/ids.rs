//! The ids that a scan can report, by name.

use std::str::FromStr;

use crate::{FindingId, invisible, patterns};

impl FindingId {
    /// Returns all ids that a scan can report, in the order of its reports.
    pub fn all() -> impl Iterator<Item = Self> {
        invisible::ids().chain(patterns::ids())
    }
}

impl FromStr for FindingId {
    type Err = UnknownFinding;

    fn from_str(name: &str) -> Result<Self, UnknownFinding> {
        Self::all().find(|id| id.as_str() == name).ok_or_else(|| UnknownFinding { name: name.to_owned() })
    }
}

/// The error for a name that is not a finding's id. The caller is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown finding {name:?}: it is the id of a pattern or invisible_unicode_U+XXXX")]
pub struct UnknownFinding {
    /// The given name; ids are compared exactly.
    pub name: String,
}
