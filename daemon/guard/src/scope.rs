//! How wide a scan casts its net.

use std::fmt;
use std::str::FromStr;

/// Which patterns a scan looks for. The scopes nest, and their order is that of the nesting:
/// everything found at a smaller scope is found at a larger one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Plain injection and exfiltration, for any text whatever.
    All,
    /// Also what tries to change the agent itself, for text that enters its context.
    Context,
    /// Also what touches keys, agent files and foreign URLs, for text that stays in memory.
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

/// A scope's name that is none of the three. The caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {name:?}: it is one of all, context, strict")]
pub struct UnknownScope {
    /// The name as it was given; names are lower case.
    pub name: String,
}
