//! The plugin folder of earlier versions, which would register the engine a second time.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::user_file::remove_tree;
use serde::Serialize;

use super::folder::{Folder, Kind};
use super::package;

/// The hashes of the files that earlier versions wrote into `plugins/context_engine/herma`.
const OLD_FILE_HASHES: [&str; 2] = [
    "129a611a3dc0210a41bc40ee626c45c9bfa3de8c139b69efc687b9c223f753e8",
    "e4dcd9f7cd109914a4f1aab160d78d5d694f0837d4643a2fefce3cb60eda4b44",
];

/// The result of removing the folder of an earlier version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OldPlugin {
    /// There was no such folder.
    None,
    Removed,
    /// It was kept because it has files that herma did not write.
    Kept,
}

/// Returns the path of an earlier version's folder in a home.
pub(super) fn path(home: &Path) -> PathBuf {
    home.join("plugins/context_engine/herma")
}

/// Removes the folder of an earlier version, unless its files were changed.
pub(super) fn clear(home: &Path) -> Result<OldPlugin, Failure> {
    let path = path(home);
    if !path.exists() && !path.is_symlink() {
        return Ok(OldPlugin::None);
    }
    let Ok(folder) = Folder::look(&path) else { return Ok(OldPlugin::Kept) };
    for (name, kind) in &folder.found {
        let bytes = folder.read(&name.to_string_lossy())?.unwrap_or_default();
        if *kind != Kind::File || !OLD_FILE_HASHES.contains(&package::sha256(&bytes).as_str()) {
            return Ok(OldPlugin::Kept);
        }
    }
    remove_tree(&path)?;
    // The parent folder may contain engines of others. Then it stays.
    drop(path.parent().map(std::fs::remove_dir));
    Ok(OldPlugin::Removed)
}
