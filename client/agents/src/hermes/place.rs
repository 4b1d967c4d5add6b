//! Replaces the plugin folder: a complete new one is made next to the old one, then the two are exchanged.

use std::fs::File as Open;
use std::io;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::settings_file::backups;
use herma_base::user_file::{self, copy, create_folder, exchange, remove_tree, rename};
use rustix::fs::{FlockOperation, flock};

use super::folder::{Folder, Kind, RECORD, Record, failed};
use super::package::{File, MANIFEST};

/// The name of a folder that is being made or removed. Without a running install it is never needed.
const NEW: &str = ".herma.new";

/// The name for the old folder, where two folders can't be exchanged in one step.
const OLD: &str = ".herma.old";

/// The folder that contains the plugins, locked against other installs.
#[derive(Debug)]
pub(super) struct Plugins {
    path: PathBuf,
    _lock: Open,
}

impl Plugins {
    /// Locks the folder, and tidies up after an install that was killed.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        create_folder(path)?;
        let lock = Open::open(path).map_err(|error| failed(path, &error))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(Failure::File(format!("{}: another install is running", path.display())));
        }
        let plugins = Self { path: path.to_owned(), _lock: lock };
        plugins.tidy()?;
        Ok(plugins)
    }

    /// Removes the folder if it contains nothing.
    pub(super) fn remove_if_empty(self) {
        drop(std::fs::remove_dir(&self.path));
    }

    fn tidy(&self) -> Result<(), Failure> {
        let (own, old) = (self.path.join("herma"), self.path.join(OLD));
        if old.exists() && !own.exists() {
            rename(&old, &own)?;
        }
        remove_tree(&old)?;
        Ok(remove_tree(&self.path.join(NEW))?)
    }

    /// Replaces the folder with one that has these files and everything else in the old one. Each edited file is kept
    /// under another name. Returns these names.
    pub(super) fn replace(&self, folder: &Folder, own: &[File], edited: &[String]) -> Result<Vec<String>, Failure> {
        let new = self.path.join(NEW);
        let made = self.make(&new, folder, own, edited);
        let placed = made.and_then(|kept| {
            self.swap(&new, &folder.path)?;
            Ok(kept)
        });
        // The folder is useless now. The next install would remove it too.
        drop(remove_tree(&new));
        placed
    }

    fn make(&self, new: &Path, folder: &Folder, own: &[File], edited: &[String]) -> Result<Vec<String>, Failure> {
        // An agent takes a folder with the manifest for a plugin, so the manifest is written last.
        let (last, rest): (Vec<&File>, Vec<&File>) = own.iter().partition(|file| file.path == MANIFEST);
        for file in rest {
            user_file::write(&new.join(&file.path), file.data)?;
        }
        carry(folder, own, new)?;
        let mut kept = Vec::new();
        for path in edited {
            let bytes = folder.read(path)?.unwrap_or_default();
            let Some(name) = backups(Path::new(path)).find(|name| !new.join(name).exists()) else { continue };
            user_file::write(&new.join(&name), &bytes)?;
            kept.push(name.to_string_lossy().into_owned());
        }
        let record = serde_json::to_string_pretty(&Record::own()).map_err(|error| Failure::File(error.to_string()))?;
        user_file::write(&new.join(RECORD), format!("{record}\n").as_bytes())?;
        for file in last {
            user_file::write(&new.join(&file.path), file.data)?;
        }
        Ok(kept)
    }

    fn swap(&self, new: &Path, place: &Path) -> Result<(), Failure> {
        if !place.exists() {
            return Ok(rename(new, place)?);
        }
        if exchange(new, place) {
            return Ok(());
        }
        let old = self.path.join(OLD);
        rename(place, &old)?;
        rename(new, place)?;
        Ok(remove_tree(&old)?)
    }
}

/// Copies the files that herma did not write, and those it wrote that were changed since.
fn carry(folder: &Folder, own: &[File], new: &Path) -> Result<(), Failure> {
    for (path, kind) in &folder.found {
        let (from, to) = (folder.path.join(path), new.join(path));
        let is_taken = to.symlink_metadata().is_ok();
        let name = path.to_string_lossy();
        let done: Result<(), Failure> = match kind {
            Kind::Other | Kind::File if is_taken && to.is_dir() => {
                let words = "herma needs a folder of this name; move it away first";
                return Err(Failure::File(format!("{}: {words}", from.display())));
            }
            _ if is_taken || name == RECORD || name == MANIFEST => Ok(()),
            Kind::Folder => Ok(()),
            Kind::Other => link(&from, &to).map_err(|error| failed(&from, &error)),
            Kind::File => {
                let is_ours = folder.record.as_ref().is_some_and(|record| record.files.contains_key(name.as_ref()));
                match folder.read(&name)? {
                    Some(bytes) if is_ours && folder.is_own(own, &name, &bytes) => Ok(()),
                    _ => copy(&from, &to).map_err(Failure::from),
                }
            }
        };
        done?;
    }
    Ok(())
}

/// Creates a link with the same target as another one.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let target = std::fs::read_link(from)?;
    create_folder(to.parent().unwrap_or(to)).map_err(|error| error.source)?;
    std::os::unix::fs::symlink(target, to)
}

/// Removes herma's files except `kept`, Python's caches next to them, and folders that are then empty. Returns the
/// removed files.
pub(super) fn clear(folder: &Folder, own: &[File], kept: &[String]) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    let named = folder.named(own);
    // The manifest goes first, because the folder is not a plugin without it.
    let first = named.iter().filter(|path| *path == MANIFEST);
    let rest = named.iter().filter(|path| *path != MANIFEST);
    for path in first.chain(rest) {
        if folder.found.get(Path::new(path)) == Some(&Kind::File) && !kept.contains(path) {
            let full = folder.path.join(path);
            user_file::remove(&full)?;
            removed.push(path.clone());
        }
    }
    let folders = folder.found.iter().filter(|(_, kind)| **kind == Kind::Folder).map(|(path, _)| path);
    let is_ours = |path: &Path| named.iter().any(|name| Path::new(name).starts_with(path));
    // The deepest folders first. A folder with other files stays.
    for path in
        folders.filter(|path| is_ours(path)).rev().map(|path| folder.path.join(path)).chain([folder.path.clone()])
    {
        drop(remove_tree(&path.join(super::folder::CACHE)));
        if path == folder.path && kept.is_empty() {
            drop(user_file::remove(&path.join(RECORD)));
        }
        drop(std::fs::remove_dir(&path));
    }
    Ok(removed)
}
