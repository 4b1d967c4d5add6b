//! Who asks.

use crate::claim::Claim;
use crate::state::DEFAULT_PROFILE;

/// Who asks and for which profile.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Number of the connection.
    pub connection: u64,
    /// The profile that the request names.
    pub profile: Option<String>,
    /// Whether the change that the request asks for is still wanted.
    pub claim: Claim,
}

impl Caller {
    /// The profile that the request means.
    pub(crate) fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }
}
