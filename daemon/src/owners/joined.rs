//! The profiles whose stores this host shares. A file in the home records what `herma shared join` and `leave` decided.
//! Only this file says whether a database gives a store its revisions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use herma_disk::file::{self, Temporary};
use herma_disk::folder;
use serde::{Deserialize, Serialize};

use crate::data::error::Outcome;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 20;

const TEMPORARY: Temporary = Temporary { prefix: ".shared_", suffix: ".tmp" };

/// The profiles that share, and their stores in the database.
#[derive(Debug)]
pub(crate) struct SharedProfiles {
    path: PathBuf,
    kept: Mutex<StoredProfiles>,
    /// Why the file can't be read. Then it is unknown which profiles share.
    pub(crate) unknown: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct StoredProfiles {
    /// The birth mark of each store in the database, by profile and name. It differs if the store was created again.
    profiles: BTreeMap<String, BTreeMap<String, String>>,
}

impl SharedProfiles {
    /// Reads the decisions of this home.
    pub(crate) fn of(home: &Path) -> Self {
        let path = home.join("herma/shared.json");
        let read = file::read_text(&path, LIMIT).map_err(|error| error.to_string());
        let kept = read.and_then(|found| match found {
            None => Ok(StoredProfiles::default()),
            Some((text, _)) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        });
        let (kept, unknown) = match kept {
            Ok(kept) => (kept, None),
            Err(words) => {
                tracing::error!("which stores are shared is not known: {words}");
                (StoredProfiles::default(), Some(words))
            }
        };
        Self { path, kept: Mutex::new(kept), unknown }
    }

    /// Whether a profile's stores are shared. If that is unknown, they must not be written.
    pub(crate) fn has(&self, profile: &str) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).profiles.contains_key(profile)
    }

    /// Returns the profiles that share.
    pub(crate) fn profiles(&self) -> Vec<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).profiles.keys().cloned().collect()
    }

    /// Returns the birth mark of a profile's store in the database.
    pub(crate) fn birth_id(&self, profile: &str, target: &str) -> Option<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).profiles.get(profile)?.get(target).cloned()
    }

    /// Notes that a profile shares from now on, with these stores.
    pub(crate) fn join(&self, profile: &str, stores: BTreeMap<String, String>) -> Outcome<()> {
        self.change(|kept| drop(kept.profiles.insert(profile.to_owned(), stores)))
    }

    /// Notes that a profile no longer shares.
    pub(crate) fn leave(&self, profile: &str) -> Outcome<()> {
        self.change(|kept| drop(kept.profiles.remove(profile)))
    }

    fn change(&self, change: impl FnOnce(&mut StoredProfiles)) -> Outcome<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = kept.clone();
        change(&mut new);
        let text = serde_json::to_string_pretty(&new).unwrap_or_default();
        if let Some(folder) = self.path.parent() {
            folder::create(folder)?;
        }
        file::replace(&self.path, text.as_bytes(), TEMPORARY)?;
        *kept = new;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    #![allow(clippy::disallowed_methods, reason = "a test plays a person")]

    use super::*;

    #[test]
    fn what_was_decided_survives_and_what_can_t_be_read_is_said() {
        let home = tempfile::tempdir().unwrap();
        let joined = SharedProfiles::of(home.path());
        assert!(!joined.has("work") && joined.unknown.is_none());
        joined.join("work", BTreeMap::from([("user".into(), "b-1".into())])).unwrap();
        let again = SharedProfiles::of(home.path());
        assert_eq!((again.profiles(), again.birth_id("work", "user")), (vec!["work".into()], Some("b-1".into())));
        again.leave("work").unwrap();
        assert!(!SharedProfiles::of(home.path()).has("work"));
        std::fs::write(home.path().join("herma/shared.json"), "{").unwrap();
        assert!(SharedProfiles::of(home.path()).unknown.is_some_and(|words| words.contains("shared.json")));
    }
}
