//! A temporary home for one test.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use herma_client::Place;
use herma_protocol::memory::Target;
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::mounts::Mounts;
use crate::needs::Need;
use crate::wait::eventually;

/// A fresh folder with a short path, so that the path of its socket is short too. Dropping this value removes it.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    path: PathBuf,
    mounts: Option<Mounts>,
    is_ordinary: bool,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// Creates an empty home.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("h").tempdir_in("/tmp").unwrap();
        Self { path: folder.path().to_owned(), folder, mounts: None, is_ordinary: false }
    }

    /// Creates an empty home on its own file system of this size. Returns `None` if the machine can't mount one, and
    /// adds the test to the list of skipped tests.
    ///
    /// # Panics
    /// The mount fails, although the machine can mount.
    #[must_use]
    #[track_caller]
    pub fn small(bytes: u64) -> Option<Self> {
        if !Need::Mounts.is_met() {
            return None;
        }
        let home = Self::new();
        let mounts = Mounts::small(home.folder.path(), bytes).expect("a small file system");
        Some(Self { path: mounts.seen(home.folder.path()), mounts: Some(mounts), ..home })
    }

    /// Creates an empty home whose daemon obeys file permissions even as root. Returns `None` if the machine can't do
    /// that, and adds the test to the list of skipped tests.
    #[must_use]
    #[track_caller]
    pub fn ordinary() -> Option<Self> {
        Need::Ordinary.is_met().then(|| Self { is_ordinary: true, ..Self::new() })
    }

    /// Builds a command for a program that sees this home.
    #[must_use]
    pub fn command(&self, program: &OsStr) -> Command {
        if self.is_ordinary && rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.arg("--bounding-set=-dac_override,-dac_read_search").arg(program);
            return command;
        }
        self.mounts.as_ref().map_or_else(|| Command::new(program), |mounts| mounts.command(program))
    }

    /// Creates a home with this config.toml.
    #[must_use]
    pub fn configured(config: &str) -> Self {
        let home = Self::new();
        fs::create_dir(home.path().join("herma")).unwrap();
        fs::write(home.path().join("herma/config.toml"), config).unwrap();
        home
    }

    /// Returns the path of the home.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path().join("herma/hermad.sock")
    }

    /// Returns the home and its socket for a client.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { home: self.path().to_owned(), socket: self.socket() }
    }

    /// Returns the path of a store of the default profile.
    #[must_use]
    pub fn store(&self, target: Target) -> PathBuf {
        self.path().join("memories").join(match target {
            Target::Memory => "MEMORY.md",
            Target::User => "USER.md",
        })
    }

    /// Returns a store's file, byte for byte. A missing file is empty.
    #[must_use]
    pub fn read_store(&self, target: Target) -> String {
        fs::read_to_string(self.store(target)).unwrap_or_default()
    }

    /// Returns the entries of a store, read without the daemon.
    #[must_use]
    pub fn entries(&self, target: Target) -> Vec<String> {
        let text = self.read_store(target);
        text.split("\n§\n").filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
    }

    /// Writes a store as an editor does, without any lock.
    pub fn write_store(&self, target: Target, bytes: &[u8]) {
        fs::create_dir_all(self.path().join("memories")).unwrap();
        fs::write(self.store(target), bytes).unwrap();
    }

    /// Fills the home's own file system until there is no room for a file of one byte.
    pub fn fill(&self) -> Filler {
        let path = self.path().join("filler");
        let mut file = File::create(&path).unwrap();
        let mut sizes = [1 << 16, 1].into_iter();
        let mut size: usize = sizes.next().unwrap();
        loop {
            match file.write_all(&vec![0; size]) {
                Ok(()) => {}
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
                    match sizes.next() {
                        Some(smaller) => size = smaller,
                        None => return Filler { path },
                    }
                }
            }
        }
    }

    /// Returns all files below the home, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => files.push(entry.path()),
                }
            }
        }
        files.sort();
        files
    }

    /// Takes the lock that every writer of the store takes.
    pub fn hold(&self, target: Target) -> Held {
        fs::create_dir_all(self.path().join("memories")).unwrap();
        let mut lock = self.store(target).into_os_string();
        lock.push(".lock");
        let file = File::options().read(true).write(true).create(true).truncate(false).open(lock).unwrap();
        eventually("the store's lock", || flock(&file, FlockOperation::NonBlockingLockExclusive).ok());
        Held { file }
    }

    /// Returns the spilled outputs on disk, sorted.
    #[must_use]
    pub fn outputs(&self) -> Vec<PathBuf> {
        let Ok(sessions) = fs::read_dir(self.path().join("herma/outputs")) else { return Vec::new() };
        let mut files: Vec<PathBuf> = sessions
            // An empty folder may be removed at any moment.
            .filter_map(|session| fs::read_dir(session.unwrap().path()).ok())
            .flatten()
            .map(|file| file.unwrap().path())
            .collect();
        files.sort();
        files
    }
}

/// A file that fills a file system until this value is dropped.
#[derive(Debug)]
#[must_use = "there is room again when this is dropped"]
pub struct Filler {
    path: PathBuf,
}

impl Drop for Filler {
    fn drop(&mut self) {
        fs::remove_file(&self.path).unwrap();
    }
}

/// A store's lock that the test holds.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub struct Held {
    file: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // An explicit unlock is needed because a child that is just starting has a copy of the descriptor.
        flock(&self.file, FlockOperation::Unlock).unwrap();
    }
}
