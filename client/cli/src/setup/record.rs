//! What setups of this home did, so that it can be undone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    /// The copies of old settings that were made.
    pub(super) backups: BTreeSet<PathBuf>,
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

    pub(super) fn write(&self, home: &Path) -> Result<(), Failure> {
        let path = Self::path(home);
        let text = serde_json::to_vec_pretty(self).map_err(|error| Failure::File(error.to_string()))?;
        own_file::put_durably(&path, &text).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
    }

    pub(super) fn remove(home: &Path) {
        own_file::remove(&Self::path(home));
    }
}
