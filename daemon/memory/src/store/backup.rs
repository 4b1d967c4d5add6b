//! Backups of a store that another program made too long to be changed safely.

use std::path::PathBuf;
use std::time::SystemTime;

use herma_disk::file;
use herma_disk::{DiskError, folder};

use super::{FILE_LIMIT, Paths, TEMPORARY, unix};
use crate::hash::hash;
use crate::target::Target;

/// Number of backups to keep.
const BACKUPS: usize = 5;

/// Copies the file, once for each distinct content, and keeps the newest backups.
pub(super) fn back_up(paths: &Paths, target: Target) -> Result<PathBuf, DiskError> {
    let text = file::read_bytes(&paths.file, FILE_LIMIT)?.map(|(text, _)| text).unwrap_or_default();
    let prefix = format!("{}.bak.", target.file_name());
    let suffix = format!("-{}", &hash(&String::from_utf8_lossy(&text))[..8]);
    // Counts only herma's own backups, not those of Hermes or of a person.
    let is_own = |name: &String| {
        let rest = name.strip_prefix(&prefix).and_then(|rest| rest.split_once('-'));
        rest.is_some_and(|(seconds, hash)| {
            seconds.bytes().all(|byte| byte.is_ascii_digit()) && hash.len() == 8 && !seconds.is_empty()
        })
    };
    let copies = || folder::names(paths.folder()).map(|names| names.into_iter().filter(is_own));
    if let Some(name) = copies()?.find(|name| name.ends_with(&suffix)) {
        return Ok(paths.folder().join(name));
    }
    let path = paths.folder().join(format!("{prefix}{:.0}{suffix}", unix(SystemTime::now()).floor()));
    file::create(&path, &text, TEMPORARY)?;
    let mut all: Vec<String> = copies()?.collect();
    let surplus = all.len().saturating_sub(BACKUPS);
    for name in all.drain(..surplus) {
        file::remove(&paths.folder().join(name))?;
    }
    Ok(path)
}
