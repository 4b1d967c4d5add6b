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
    /// The agents whose sessions are being imported, or were when a setup was stopped.
    pub(super) importing: BTreeSet<String>,
    /// The copies that an undo makes while it runs, each with the hash of its content. Nobody needs them afterwards.
    pub(super) temporary: BTreeMap<PathBuf, String>,
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

    /// Adds a copy of a text before it is made, and saves that, so that a setup that is killed leaves no unknown copy.
    pub(super) fn plan_backup(&mut self, home: &Path, path: &Path, text: &str) -> Result<(), Failure> {
        self.backups.insert(path.to_owned(), hash(text.as_bytes()));
        self.write(home)
    }

    /// Adds a copy that an undo makes, before it is made, and saves that.
    pub(super) fn plan_temporary(&mut self, home: &Path, path: &Path, text: &str) -> Result<(), Failure> {
        self.temporary.insert(path.to_owned(), hash(text.as_bytes()));
        self.write(home)
    }

    /// Removes the copies that undos made.
    pub(super) fn remove_temporary(&mut self) {
        for (path, hash) in std::mem::take(&mut self.temporary) {
            if hash_of(&path) == Some(hash) {
                own_file::remove(&path);
            }
        }
    }

    /// Removes the copies of files that a function accepts or that are like their copies.
    pub(super) fn remove_backups(&mut self, is_back: impl Fn(&Path) -> bool) {
        let is_needless = |file: &Path, hash: &String| is_back(file) || hash_of(file).as_ref() == Some(hash);
        let known = self.backups.iter().filter_map(|(backup, hash)| Some((backup, copied(backup)?, hash)));
        let needless = known.filter(|(_, file, hash)| is_needless(file, hash)).map(|(backup, ..)| backup.clone());
        needless.collect::<Vec<_>>().iter().for_each(|backup| self.remove_backup(backup));
    }

    /// Removes a copy, unless its content is no longer what a setup wrote.
    fn remove_backup(&mut self, path: &Path) {
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

/// Returns the file whose copy this is: `FILE.bak` or `FILE.bak.1`.
fn copied(backup: &Path) -> Option<PathBuf> {
    let (file, number) = backup.to_str()?.rsplit_once(".bak")?;
    (number.is_empty() || number.starts_with('.')).then(|| file.into())
}
