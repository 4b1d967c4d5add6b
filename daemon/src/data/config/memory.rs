//! `[memory]`: the memory stores.

use std::collections::BTreeMap;

use herma_memory::Target;
use toml::Value;

use super::format::{Named, switch, whole};
use super::key::{self, KeyError, section};
use crate::data::profiles::is_name;

section! {
    /// The memory stores.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MemoryConfig {
        /// The limit of MEMORY.md.
        pub memory_limit: usize = 2200, whole(1.., "chars");
        /// The limit of USER.md.
        pub user_limit: usize = 1375, whole(1.., "chars");
        /// Whether writes wait for `herma memory approve`.
        pub approval: bool = false, switch();
        /// The number of changes that can be undone.
        pub journal_revisions: usize = 1000, whole(1.., "revisions");
        /// Limits of single profiles, instead of those above.
        pub profiles: BTreeMap<String, ProfileConfig> = BTreeMap::new(),
            Named { read: profiles, depth: 2, example: "work = { memory_limit = 4_000, user_limit = 2_000 }" };
    }
}

section! {
    /// The limits of a profile; `None` means the limit of all profiles.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ProfileConfig {
        /// The limit of its MEMORY.md.
        pub memory_limit: Option<usize> = None, whole(1.., "chars").optional();
        /// The limit of its USER.md.
        pub user_limit: Option<usize> = None, whole(1.., "chars").optional();
    }
}

impl MemoryConfig {
    /// Returns the limit of a profile's store, in chars.
    #[must_use]
    pub fn limit(&self, profile: &str, target: Target) -> usize {
        let own = self.profiles.get(profile);
        match target {
            Target::Memory => own.and_then(|own| own.memory_limit).unwrap_or(self.memory_limit),
            Target::User => own.and_then(|own| own.user_limit).unwrap_or(self.user_limit),
        }
    }
}

fn profiles(said: &Value) -> Result<BTreeMap<String, ProfileConfig>, KeyError> {
    let profile = |(name, said): (&String, &Value)| {
        if !is_name(name) {
            return Err(KeyError::new(format!("has {name:?}, which can't be a profile's name")));
        }
        Ok((name.clone(), key::section_of(said).map_err(|mistake| mistake.at(name))?))
    };
    key::table(said)?.iter().map(profile).collect()
}
