//! Who asks.

use crate::data::profiles::DEFAULT_PROFILE;
use crate::owners::commit_token::CommitToken;

/// Who asks and for which profile.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Number of the connection.
    pub connection: u64,
    /// The profile that the request names.
    pub profile: Option<String>,
    /// Whether the change that the request asks for is still wanted.
    pub token: CommitToken,
}

impl Caller {
    /// The profile that the request means.
    pub(crate) fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }
}
