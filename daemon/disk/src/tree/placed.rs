//! Staged changes of a tree, and putting them in place: all of them or none.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{AtFlags, FileType, Mode};

use super::{Change, Tree, is_no_empty_folder, new_file, split, temporary_name};
use crate::DiskError;
use crate::error::At;
use crate::schedule::step;
use crate::stamp::Stamp;

/// The error if another program changed a file meanwhile; nothing was done.
#[derive(Debug, thiserror::Error)]
#[error("another program changed it meanwhile")]
pub struct Changed;

impl DiskError {
    /// Returns whether the operation failed because a file was no longer the expected one.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.source.get_ref().is_some_and(|inner| inner.is::<Changed>())
    }
}

/// Staged changes. If this is dropped, the tree is unchanged.
#[derive(Debug)]
pub struct StagedChanges {
    tree: Tree,
    root: OwnedFd,
    items: Vec<Item>,
    folders_gone: Vec<String>,
}

/// A staged change.
#[derive(Debug)]
struct Item {
    path: String,
    expected: Option<Stamp>,
    /// The new file in the root; `None` if the change only removes.
    new: Option<New>,
}

/// A new file and its name in the root. It stays open until it is synced.
#[derive(Debug)]
struct New {
    file: Option<File>,
    temporary: String,
}

/// A completed step, with what is needed to undo it.
#[derive(Debug)]
enum Done {
    /// The old file got a second name in its folder, and its own name was removed or given to the new file.
    Replaced { folder: Rc<OwnedFd>, name: String, second: String },
    /// A file was created.
    Made { folder: Rc<OwnedFd>, name: String },
    /// A folder was removed.
    FolderGone(String),
    /// A folder was created.
    FolderMade(String),
    /// As `Replaced`, but the second name is in the root, because the folder was to be removed.
    Moved { path: String, second: String },
}

impl StagedChanges {
    pub(super) fn new(tree: Tree, root: OwnedFd, folders_gone: &[&str]) -> Self {
        let folders_gone = folders_gone.iter().map(|folder| (*folder).to_owned()).collect();
        Self { tree, root, items: Vec::new(), folders_gone }
    }

    pub(super) fn new_file(&self) -> io::Result<(File, String)> {
        new_file(&self.root)
    }

    pub(super) fn add(&mut self, change: &Change<'_>, new: Option<(Option<File>, String)>) {
        let new = new.map(|(file, temporary)| New { file, temporary });
        self.items.push(Item { path: change.path.to_owned(), expected: change.expected, new });
    }

    /// Makes the new contents durable; the tree is still unchanged.
    ///
    /// # Errors
    /// A failed sync.
    pub fn sync(&self) -> Result<(), DiskError> {
        let mut files = self.items.iter().filter_map(|item| item.new.as_ref()?.file.as_ref());
        files.try_for_each(File::sync_all).at("sync", self.tree.root())
    }

    /// Puts all changes in place, durably when this returns: first the removed files, then the
    /// folders that are empty now, then the new files. Returns the stamps of the new files, in
    /// order.
    ///
    /// # Errors
    /// A failed step, or a file that is not the expected one ([`DiskError::is_changed`]).
    /// Everything is then as it was, as far as the disk allows.
    pub fn commit(mut self) -> Result<Vec<Stamp>, DiskError> {
        step();
        let items = std::mem::take(&mut self.items);
        let mut placing = Committing { own: &self, folders: HashMap::new(), done: Vec::new() };
        match placing.all(&items) {
            Ok(stamps) => {
                placing.forget_old();
                Ok(stamps)
            }
            Err(error) => {
                placing.take_back();
                // Dropping `self` removes the temporary files that were not put in place.
                self.items = items;
                Err(error)
            }
        }
    }
}

/// The changes while they are put in place.
struct Committing<'a> {
    own: &'a StagedChanges,
    /// The open folders with changes.
    folders: HashMap<String, Rc<OwnedFd>>,
    done: Vec<Done>,
}

impl Committing<'_> {
    fn all(&mut self, items: &[Item]) -> Result<Vec<Stamp>, DiskError> {
        let (gone, written): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.new.is_none());
        for item in gone {
            self.remove(item)?;
        }
        for folder in &self.own.folders_gone {
            if self.remove_folder(folder)? {
                self.done.push(Done::FolderGone(folder.clone()));
            }
        }
        let mut stamps = Vec::with_capacity(written.len());
        for item in written {
            stamps.push(self.write(item)?);
        }
        for folder in self.folders.values() {
            rustix::fs::fsync(&**folder).map_err(io::Error::from).at("sync a folder below", self.own.tree.root())?;
        }
        Ok(stamps)
    }

    fn remove(&mut self, item: &Item) -> Result<(), DiskError> {
        let (above, name) = split(&item.path);
        let Some(folder) = self.folder(above)? else { return self.check(item, None) };
        let Some(second) = self.keep(item, &folder, name)? else { return Ok(()) };
        let removed = rustix::fs::unlinkat(&*folder, name, AtFlags::empty()).map_err(io::Error::from);
        self.done.push(Done::Replaced { folder, name: name.to_owned(), second });
        removed.at("remove", &self.own.tree.root().join(&item.path))
    }

    fn write(&mut self, item: &Item) -> Result<Stamp, DiskError> {
        let Some(New { temporary, .. }) = &item.new else { return Err(changed()).at("write", self.own.tree.root()) };
        let (above, name) = split(&item.path);
        let at = self.own.tree.root().join(&item.path);
        let folder = match self.folders.get(above) {
            Some(folder) => Rc::clone(folder),
            None => {
                let mut made = Vec::new();
                let opened = self.own.tree.made_folder(above, &mut made);
                self.done.extend(made.into_iter().map(Done::FolderMade));
                let folder = Rc::new(opened?);
                self.folders.insert(above.to_owned(), Rc::clone(&folder));
                folder
            }
        };
        let second = self.keep(item, &folder, name)?;
        if second.is_some() {
            keep_mode(&folder, name, &self.own.root, temporary);
        }
        let renamed = rustix::fs::renameat(&self.own.root, &**temporary, &*folder, name).map_err(io::Error::from);
        let is_done = renamed.is_ok();
        let stamp = renamed.and_then(|()| stamp_at(&folder, name)).and_then(|stamp| stamp.ok_or_else(changed));
        let name = name.to_owned();
        match second {
            Some(second) => self.done.push(Done::Replaced { folder, name, second }),
            None if is_done => self.done.push(Done::Made { folder, name }),
            None => {}
        }
        stamp.at("put in its place", &at)
    }

    /// Gives the existing file a second name, if it is the expected one.
    fn keep(&self, item: &Item, folder: &OwnedFd, name: &str) -> Result<Option<String>, DiskError> {
        let second = temporary_name();
        let at = || self.own.tree.root().join(&item.path);
        match rustix::fs::linkat(folder, name, folder, &*second, AtFlags::empty()) {
            Ok(()) => {
                let found = stamp_at(folder, &second).at("inspect", &at())?;
                if item.expected.is_some() && found == item.expected {
                    return Ok(Some(second));
                }
                let _ = rustix::fs::unlinkat(folder, &*second, AtFlags::empty());
                Err(changed()).at("change", &at())
            }
            Err(rustix::io::Errno::NOENT) => self.check(item, None).map(|()| None),
            // A folder can't have a second name.
            Err(rustix::io::Errno::PERM | rustix::io::Errno::ISDIR) if is_folder(folder, name) => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")).at("change", &at())
            }
            Err(error) => Err(io::Error::from(error)).at("keep what is there of", &at()),
        }
    }

    fn check(&self, item: &Item, found: Option<Stamp>) -> Result<(), DiskError> {
        if found == item.expected {
            Ok(())
        } else {
            Err(changed()).at("change", &self.own.tree.root().join(&item.path))
        }
    }

    fn folder(&mut self, path: &str) -> Result<Option<Rc<OwnedFd>>, DiskError> {
        if let Some(folder) = self.folders.get(path) {
            return Ok(Some(Rc::clone(folder)));
        }
        let Some(folder) = self.own.tree.folder(path)? else { return Ok(None) };
        let folder = Rc::new(folder);
        self.folders.insert(path.to_owned(), Rc::clone(&folder));
        Ok(Some(folder))
    }

    /// Removes a folder that contains nothing but second names of this change.
    fn remove_folder(&mut self, path: &str) -> Result<bool, DiskError> {
        self.forget_old_below(path);
        let (above, name) = split(path);
        let Some(folder) = self.folder(above)? else { return Ok(false) };
        self.folders.remove(path);
        match rustix::fs::unlinkat(&*folder, name, AtFlags::REMOVEDIR).map_err(io::Error::from) {
            Ok(()) => Ok(true),
            Err(error) if is_no_empty_folder(&error) => Ok(false),
            Err(error) => Err(error).at("remove the folder", &self.own.tree.root().join(path)),
        }
    }

    /// Moves the second names in a folder that will be removed to the root.
    fn forget_old_below(&mut self, path: &str) {
        let Some(gone) = self.folders.get(path).cloned() else { return };
        for done in &mut self.done {
            let Done::Replaced { folder, name, second } = done else { continue };
            if Rc::ptr_eq(folder, &gone) {
                let moved = temporary_name();
                if rustix::fs::renameat(&**folder, &**second, &self.own.root, &*moved).is_ok() {
                    *done = Done::Moved { path: format!("{path}/{name}"), second: moved };
                }
            }
        }
    }

    fn take_back(&mut self) {
        for done in self.done.drain(..).rev() {
            let taken = match &done {
                Done::Replaced { folder, name, second } => {
                    let back = rustix::fs::renameat(&**folder, &**second, &**folder, &**name);
                    // A rename does nothing if both are names of the same file, so the second name is removed too.
                    let _ = rustix::fs::unlinkat(&**folder, &**second, AtFlags::empty());
                    back.map_err(io::Error::from)
                }
                Done::Made { folder, name } => {
                    rustix::fs::unlinkat(&**folder, &**name, AtFlags::empty()).map_err(io::Error::from)
                }
                // A folder stays if another program put something into it meanwhile.
                Done::FolderMade(path) => self.own.tree.remove_empty(path).map(drop).map_err(|error| error.source),
                Done::FolderGone(path) => self.own.tree.make_folder(path).map_err(|error| error.source),
                Done::Moved { path, second } => {
                    let (above, name) = split(path);
                    self.own.tree.made_folder(above, &mut Vec::new()).map_err(|error| error.source).and_then(|folder| {
                        rustix::fs::renameat(&self.own.root, &**second, &folder, name).map_err(io::Error::from)
                    })
                }
            };
            if let Err(error) = taken {
                tracing::debug!("{done:?} is not taken back: {error}");
            }
        }
    }

    fn forget_old(&self) {
        for done in &self.done {
            let forgotten = match done {
                Done::Replaced { folder, second, .. } => rustix::fs::unlinkat(&**folder, &**second, AtFlags::empty()),
                Done::Moved { second, .. } => rustix::fs::unlinkat(&self.own.root, &**second, AtFlags::empty()),
                Done::Made { .. } | Done::FolderGone(_) | Done::FolderMade(_) => Ok(()),
            };
            if let Err(error) = forgotten {
                tracing::debug!("what was replaced stays for a minute: {error}");
            }
        }
    }
}

fn changed() -> io::Error {
    io::Error::other(Changed)
}

/// Returns the stamp of a regular file in a folder; `None` if there is none.
fn stamp_at(folder: &OwnedFd, name: &str) -> io::Result<Option<Stamp>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
            Ok(Some(Stamp::of_stat(&found)))
        }
        Ok(_) | Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_folder(folder: &OwnedFd, name: &str) -> bool {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// Gives the temporary file the mode of the file that it will replace.
fn keep_mode(folder: &OwnedFd, name: &str, root: &OwnedFd, temporary: &str) {
    let kept = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).and_then(|found| {
        let mode = Mode::from_raw_mode(found.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        rustix::fs::chmodat(root, temporary, mode, AtFlags::empty())
    });
    if let Err(error) = kept {
        tracing::debug!("the mode of {name} is not kept: {error}");
    }
}

impl Drop for StagedChanges {
    fn drop(&mut self) {
        for new in self.items.iter().filter_map(|item| item.new.as_ref()) {
            // A file in its place has no temporary name any more. A leftover is removed after a minute.
            let _ = rustix::fs::unlinkat(&self.root, &*new.temporary, AtFlags::empty());
        }
    }
}
