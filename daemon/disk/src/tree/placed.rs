//! Changes of a tree that lie beside their places, and the way there: all of them or none.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::temporary_name;
use crate::DiskError;
use crate::error::At;
use crate::schedule::step;
use crate::stamp::Stamp;

/// Changes that can take their places. Dropped before that, all is as it was.
#[derive(Debug)]
pub struct Unplaced {
    root: PathBuf,
    items: Vec<Item>,
}

/// One change.
#[derive(Debug)]
struct Item {
    folder: OwnedFd,
    name: String,
    /// The file that takes the place, and its name; `None` where nothing does.
    new: Option<(File, String)>,
    old: Old,
    is_placed: bool,
}

/// The file that was there.
#[derive(Debug)]
enum Old {
    /// None was.
    Missing,
    /// It has this second name.
    Kept(String),
    /// There may be one, and it has no second name: nothing is known yet, or this file system has no links.
    Unkept,
}

impl Unplaced {
    pub(super) const fn new(root: PathBuf) -> Self {
        Self { root, items: Vec::new() }
    }

    pub(super) fn add_written(&mut self, folder: OwnedFd, name: &str, temporary: String, file: File) {
        let new = Some((file, temporary));
        self.items.push(Item { folder, name: name.to_owned(), new, old: Old::Unkept, is_placed: false });
    }

    pub(super) fn add_gone(&mut self, folder: OwnedFd, name: &str) {
        self.items.push(Item { folder, name: name.to_owned(), new: None, old: Old::Unkept, is_placed: false });
    }

    /// Makes what was written durable; no file has changed yet.
    ///
    /// # Errors
    /// A sync that failed.
    pub fn sync(&self) -> Result<(), DiskError> {
        self.items.iter().try_for_each(|item| match &item.new {
            Some((file, _)) => file.sync_all().at("sync", &self.root),
            None => Ok(()),
        })
    }

    /// Puts everything in its place, durable when this returns. Gives the stamps of the files that were written, in
    /// their order.
    ///
    /// # Errors
    /// A step that failed; all files are as they were then, as far as the disk lets them.
    pub fn put_in_place(mut self) -> Result<Vec<Stamp>, DiskError> {
        step();
        let placed = self.items.iter_mut().try_for_each(Item::place);
        let placed = placed.and_then(|()| self.items.iter().try_for_each(Item::sync_folder));
        if let Err(error) = placed {
            self.items.iter_mut().rev().for_each(Item::take_back);
            return Err(error).at("put in its place a file below", &self.root);
        }
        self.items.iter_mut().for_each(Item::forget_old);
        let written = self.items.iter().filter_map(|item| item.new.as_ref());
        written.map(|(file, _)| file.metadata().map(|found| Stamp::of(&found)).at("inspect", &self.root)).collect()
    }
}

impl Item {
    fn place(&mut self) -> io::Result<()> {
        let second = temporary_name();
        self.old = match rustix::fs::linkat(&self.folder, &*self.name, &self.folder, &*second, AtFlags::empty()) {
            Ok(()) => Old::Kept(second),
            Err(rustix::io::Errno::NOENT) => Old::Missing,
            Err(_) => Old::Unkept,
        };
        match &self.new {
            Some((file, temporary)) => {
                self.keep_mode(file);
                rustix::fs::renameat(&self.folder, &**temporary, &self.folder, &*self.name)?;
            }
            None => match rustix::fs::unlinkat(&self.folder, &*self.name, AtFlags::empty()) {
                Err(rustix::io::Errno::NOENT) => {}
                gone => gone?,
            },
        }
        self.is_placed = true;
        Ok(())
    }

    /// A file that was there keeps its mode.
    fn keep_mode(&self, new: &File) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(old) = rustix::fs::openat(&self.folder, &*self.name, flags, Mode::empty())
            && let Ok(found) = File::from(old).metadata()
            && found.is_file()
        {
            let mode = found.permissions().mode() & 0o777;
            if let Err(error) = new.set_permissions(std::fs::Permissions::from_mode(mode)) {
                tracing::debug!("the mode of {} is not kept: {error}", self.name);
            }
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.folder).map_err(io::Error::from)
    }

    fn take_back(&mut self) {
        let taken = match (self.is_placed, std::mem::replace(&mut self.old, Old::Unkept)) {
            (true, Old::Kept(old)) => rustix::fs::renameat(&self.folder, &*old, &self.folder, &*self.name),
            (true, Old::Missing) if self.new.is_some() => {
                rustix::fs::unlinkat(&self.folder, &*self.name, AtFlags::empty())
            }
            (false, Old::Kept(old)) => rustix::fs::unlinkat(&self.folder, &*old, AtFlags::empty()),
            (true, Old::Missing | Old::Unkept) | (false, Old::Missing | Old::Unkept) => Ok(()),
        };
        if let Err(error) = taken {
            tracing::debug!("{} is not taken back: {error}", self.name);
        }
    }

    fn forget_old(&mut self) {
        if let Old::Kept(old) = std::mem::replace(&mut self.old, Old::Unkept)
            && let Err(error) = rustix::fs::unlinkat(&self.folder, &*old, AtFlags::empty())
        {
            tracing::debug!("{old} stays for a minute: {error}");
        }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if let Some((_, temporary)) = self.new.as_ref().filter(|_| !self.is_placed) {
            // What can't be removed now is after a minute.
            let _ = rustix::fs::unlinkat(&self.folder, &**temporary, AtFlags::empty());
        }
    }
}
