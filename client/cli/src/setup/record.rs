//! What setups of this home did, so that it can be undone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use herma_base::kept::hash;
use herma_base::{Failure, own_file};
use serde::{Deserialize, Serialize};

/// The most bytes of the record that are read.
const LARGEST: u64 = 1 << 20;

/// The record.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SetupRecord {
    /// The agents that were set up.
    pub(super) agents: BTreeSet<String>,
    /// The copies of old settings that were made, each with the hash of its content.
    pub(super) backups: BTreeMap<PathBuf, String>,
}

/// The most bytes of a copy.
const COPY: u64 = 64 << 20;

fn hash_of(path: &Path) -> Option<String> {
    own_file::read(path, COPY).ok().map(|content| hash(&content))
}

impl SetupRecord {
    fn path(home: &Path) -> PathBuf {
        home.join("herma/setup.json")
    }

    /// Reads the record. One that is missing or can't be parsed counts as empty.
    pub(super) fn read(home: &Path) -> Self {
        let text = own_file::read(&Self::path(home), LARGEST).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Adds the copies of files that were changed.
    pub(super) fn add_backups(&mut self, paths: impl Iterator<Item = PathBuf>) {
        self.backups.extend(paths.filter_map(|path| hash_of(&path).map(|hash| (path, hash))));
    }

    /// Removes a copy, unless its content is no longer what a setup wrote.
    pub(super) fn remove_backup(&mut self, path: &Path) {
        if self.backups.remove(path).is_some_and(|hash| hash_of(path) == Some(hash)) {
            own_file::remove(path);
        }
    }

    pub(super) fn write(&self, home: &Path) -> Result<(), Failure> {
        let path = Self::path(home);
        let text = serde_json::to_vec_pretty(self).map_err(|error| Failure::File(error.to_string()))?;
        own_file::put_durably(&path, &text).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
    }

    pub(super) fn remove(home: &Path) {
        own_file::remove(&Self::path(home));
    }
}
