//! The two stores of a profile.

use std::fmt;
use std::str::FromStr;

/// One of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// The agent's own notes.
    Memory,
    /// Who the user is.
    User,
}

impl Target {
    /// Both stores, in the order in which they are rendered.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Returns the store's name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    /// Returns the name of the store's file.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY.md",
            Self::User => "USER.md",
        }
    }

    /// Returns the heading of the store's block in the prompt.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY (your personal notes)",
            Self::User => "USER PROFILE (who the user is)",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Self::ALL.into_iter().find(|target| target.name() == name).ok_or(UnknownTarget)
    }
}

/// A name that is neither `memory` nor `user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a target is \"memory\" or \"user\"")]
pub struct UnknownTarget;
