//! The sender of a request.

use crate::data::profiles::DEFAULT_PROFILE;
use crate::owners::commit_token::CommitToken;

/// The sender of a request, and its profile.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The number of the connection.
    pub connection: u64,
    /// The profile that the request names, if any.
    pub profile: Option<String>,
    /// Whether the requested change is still wanted.
    pub token: CommitToken,
}

impl Caller {
    /// Returns the profile of the request.
    pub(crate) fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }
}
