//! Scopes: which patterns a scan uses.

use std::fmt;
use std::str::FromStr;

/// Which patterns a scan uses. Each scope includes the smaller ones, so a scan at a larger scope
/// also finds everything that one at a smaller scope finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Plain injection and exfiltration, for any text.
    All,
    /// Also attempts to change the agent itself, for text that enters its context.
    Context,
    /// Also access to keys, agent files and foreign URLs, for text that stays in memory.
    Strict,
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Context => "context",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(name: &str) -> Result<Self, UnknownScope> {
        [Self::All, Self::Context, Self::Strict]
            .into_iter()
            .find(|scope| scope.name() == name)
            .ok_or_else(|| UnknownScope { name: name.to_owned() })
    }
}

/// The error for an unknown scope name. The caller is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {name:?}: it is one of all, context, strict")]
pub struct UnknownScope {
    /// The given name; names are lower case.
    pub name: String,
}
