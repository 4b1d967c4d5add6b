//! Reads outputs: whole, or only a part of one.

use std::collections::{HashMap, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError};

use herma_disk::regular::Regular;
use herma_disk::stamp::Stamp;
use herma_disk::{DiskError, cache, file, folder};

use super::{FILE_LIMIT, INDEX_SUFFIX, Outputs, SUFFIX, TEMPORARY};
use crate::catalog::State;
use crate::error::{SpillError, shorten};
use crate::facts::{to_u64, to_usize};
use crate::handle::{Handle, split_line};
use crate::index::{Builder, Index};
use crate::located::Located;
use crate::page::{Page, Part, page};
use crate::{json, name};

/// Bytes from which a text has an index. Reading a shorter one is as fast.
const INDEXED: u64 = 256 << 10;

/// Bytes from which the index of an output is written to disk. For a shorter one, the first read after a restart builds
/// it in no time.
const INDEX_KEPT: u64 = 4 << 20;

/// The maximum number of indexes that are held in memory.
const INDEXES: usize = 64;

/// Bytes of one read.
const BLOCK: usize = 1 << 20;

/// The form in which a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Unchanged.
    #[default]
    Raw,
    /// As indented JSON.
    Json,
}

/// The most recently added indexes.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    held: HashMap<PathBuf, (Stamp, Arc<Index>)>,
    order: VecDeque<PathBuf>,
}

impl Indexes {
    fn get(&self, path: &Path, stamp: Stamp) -> Option<Arc<Index>> {
        self.held.get(path).filter(|(held, _)| *held == stamp).map(|(_, index)| Arc::clone(index))
    }

    fn put(&mut self, path: &Path, stamp: Stamp, index: Arc<Index>) {
        if self.held.insert(path.to_owned(), (stamp, index)).is_none() {
            self.order.push_back(path.to_owned());
        }
        if self.order.len() > INDEXES
            && let Some(oldest) = self.order.pop_front()
        {
            self.held.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, path: &Path) {
        if self.held.remove(path).is_some() {
            self.order.retain(|held| held != path);
        }
    }
}

impl Outputs {
    /// Returns the whole text of an output. A line in the handle is ignored.
    ///
    /// # Errors
    /// There is no such output, it expired, or it can't be read.
    pub fn read(&self, handle: &str) -> Result<String, SpillError> {
        whole(&self.find(handle)?)
    }

    /// Returns the whole text of the output at a path.
    ///
    /// # Errors
    /// The path is outside the folder, there is no such file, or it can't be read.
    pub fn read_path(&self, path: &str) -> Result<String, SpillError> {
        whole(&self.find_path(path)?)
    }

    /// Returns a part of an output, and remembers its text as returned to an agent.
    ///
    /// # Errors
    /// As [`Outputs::read`], and for [`View::Json`] if the text is no JSON.
    pub fn page(&self, handle: &str, part: Part, view: View) -> Result<Page, SpillError> {
        self.page_of(self.find(handle)?, part, view)
    }

    /// Returns a part of the output at a path, and remembers its text as returned to an agent.
    ///
    /// # Errors
    /// As [`Outputs::read_path`], and for [`View::Json`] if the text is no JSON.
    pub fn page_path(&self, path: &str, part: Part, view: View) -> Result<Page, SpillError> {
        self.page_of(self.find_path(path)?, part, view)
    }

    /// Returns a part of an output that no agent gets unchanged. Its text is not remembered as returned.
    ///
    /// # Errors
    /// As [`Outputs::read`].
    pub fn peek(&self, handle: &str, part: Part) -> Result<Page, SpillError> {
        self.raw_page(self.find(handle)?, part)
    }

    fn page_of(&self, file: Regular, part: Part, view: View) -> Result<Page, SpillError> {
        let page = match view {
            View::Json => page(&json::pretty(&whole(&file)?)?, part),
            View::Raw => self.raw_page(file, part)?,
        };
        self.gave(&page.text);
        Ok(page)
    }

    fn raw_page(&self, file: Regular, part: Part) -> Result<Page, SpillError> {
        if file.length() < INDEXED { Ok(page(&whole(&file)?, part)) } else { self.located(file)?.page(part) }
    }

    /// Returns an open file with its index.
    pub(super) fn located(&self, file: Regular) -> Result<Located, SpillError> {
        let index = self.index(&file)?;
        Ok(Located::new(file, index))
    }

    fn index(&self, file: &Regular) -> Result<Arc<Index>, SpillError> {
        let (path, stamp) = (file.path(), file.stamp());
        if file.length() < INDEXED {
            return Ok(Arc::new(Index::of(&whole(file)?)));
        }
        if let Some(index) = self.indexes.lock().unwrap_or_else(PoisonError::into_inner).get(path, stamp) {
            return Ok(index);
        }
        let limit = Index::longest(file.length());
        let kept = file::read_bytes(&index_path(path), limit).ok().flatten();
        let index = match kept.and_then(|(bytes, _)| Index::from_bytes(&bytes, &stamp.to_bytes())) {
            Some(index) if index.bytes() == file.length() => Arc::new(index),
            _ => {
                let index = Arc::new(build(file)?);
                // A file that was changed a moment ago may change again unnoticed.
                if stamp.is_settled(std::time::SystemTime::now()) {
                    // If the disk can't be written, the index is built again next time.
                    drop(cache::put(&index_path(path), &index.to_bytes(&stamp.to_bytes()), TEMPORARY));
                }
                index
            }
        };
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).put(path, stamp, Arc::clone(&index));
        Ok(index)
    }

    /// Builds the index of a text that was just kept, if it is long enough.
    pub(super) fn make_index(&self, path: &Path, text: &str, made: Option<Arc<Index>>) {
        if to_u64(text.len()) < INDEXED {
            return;
        }
        let Ok(Some(stamp)) = Stamp::now(path) else { return };
        let index = made.unwrap_or_else(|| Arc::new(Index::of(text)));
        if to_u64(text.len()) >= INDEX_KEPT {
            // If this fails, the next reader builds it.
            drop(cache::put(&index_path(path), &index.to_bytes(&stamp.to_bytes()), TEMPORARY));
        }
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).put(path, stamp, index);
    }

    /// Opens the file of an output.
    pub(super) fn find(&self, asked: &str) -> Result<Regular, SpillError> {
        let (text, _) = split_line(asked);
        let not_found = || SpillError::NotFound(shorten(asked));
        let handle = Handle::parse(text).ok_or_else(not_found)?;
        let path = match self.record(handle) {
            Some(record) => match record.state {
                State::Kept => self.path(&record),
                State::Expired { at, reason } => {
                    let (bytes, sha256) = (record.bytes, record.sha256);
                    return Err(SpillError::Expired { handle, at, bytes, sha256, reason });
                }
            },
            None => self.look_for(handle)?.ok_or_else(not_found)?,
        };
        self.open_inside(&path, asked)
    }

    /// Searches the folders for a file that the catalog doesn't know.
    fn look_for(&self, handle: Handle) -> Result<Option<PathBuf>, DiskError> {
        for session in folder::names(&self.root)? {
            let below = self.root.join(&session);
            if !below.is_dir() {
                continue;
            }
            let is_it = |name: &String| name.ends_with(SUFFIX) && Handle::of(&format!("{session}/{name}")) == handle;
            if let Some(name) = folder::names(&below)?.into_iter().find(is_it) {
                return Ok(Some(below.join(name)));
            }
        }
        Ok(None)
    }

    fn find_path(&self, path: &str) -> Result<Regular, SpillError> {
        let inside = Path::new(path).strip_prefix(&self.root).ok();
        let names: Option<Vec<&str>> = inside.and_then(|inside| {
            inside
                .components()
                .map(|component| match component {
                    Component::Normal(name) => name.to_str().filter(|name| name::safe(name) == *name),
                    _ => None,
                })
                .collect()
        });
        // Temporary files and indexes are no outputs.
        let is_output = |names: &&[&str]| names.last().is_some_and(|name| name.ends_with(SUFFIX));
        let Some([session, file]) = names.as_deref().filter(is_output) else {
            return Err(SpillError::Outside(shorten(path)));
        };
        let expired = self.record(Handle::of(&format!("{session}/{file}")));
        match expired.map(|record| (record.state, record)) {
            Some((State::Expired { at, reason }, record)) => {
                let (handle, bytes, sha256) = (record.handle, record.bytes, record.sha256);
                Err(SpillError::Expired { handle, at, bytes, sha256, reason })
            }
            _ => self.open_inside(&self.root.join(session).join(file), path),
        }
    }

    /// Opens a file that must be below the root after links are followed.
    pub(super) fn open_inside(&self, path: &Path, asked: &str) -> Result<Regular, SpillError> {
        let inside = match (file::real_path(&self.root)?, file::real_path(path)?) {
            (Some(root), Some(real)) => real.starts_with(root),
            _ => return Err(SpillError::NotFound(shorten(asked))),
        };
        if !inside {
            return Err(SpillError::Outside(shorten(asked)));
        }
        let file = Regular::open(path)?.ok_or_else(|| SpillError::NotFound(shorten(asked)))?;
        if file.length() > FILE_LIMIT {
            let source =
                std::io::Error::new(std::io::ErrorKind::FileTooLarge, format!("longer than {FILE_LIMIT} bytes"));
            return Err(DiskError { operation: "read", path: path.to_owned(), source }.into());
        }
        Ok(file)
    }
}

/// Returns the path of the index of an output.
pub(super) fn index_path(path: &Path) -> PathBuf {
    path.with_extension(INDEX_SUFFIX.trim_start_matches('.'))
}

pub(super) fn whole(file: &Regular) -> Result<String, SpillError> {
    let bytes = file.range(0, to_usize(file.length()))?;
    String::from_utf8(bytes).map_err(|error| SpillError::NotText {
        path: file.path().to_owned(),
        byte: to_u64(error.utf8_error().valid_up_to()),
    })
}

/// Reads a whole file block by block, as [`each_block`] does, to build its index.
fn build(file: &Regular) -> Result<Index, SpillError> {
    let mut builder = Builder::default();
    each_block(file, |block| builder.add(block.as_bytes()))?;
    Ok(builder.finish())
}

/// Calls `each` with the text of a file, block by block.
pub(super) fn each_block(file: &Regular, mut each: impl FnMut(&str)) -> Result<(), SpillError> {
    let mut buffer = vec![0; BLOCK];
    let (mut offset, mut held) = (0_u64, 0);
    loop {
        let read = file.fill(offset + to_u64(held), &mut buffer[held..])?;
        let filled = held + read;
        if filled == 0 {
            return Ok(());
        }
        let valid = match std::str::from_utf8(&buffer[..filled]) {
            Ok(text) => {
                each(text);
                filled
            }
            Err(error) => {
                let valid = error.valid_up_to();
                if error.error_len().is_some() || read == 0 {
                    let byte = offset + to_u64(valid);
                    return Err(SpillError::NotText { path: file.path().to_owned(), byte });
                }
                each(std::str::from_utf8(&buffer[..valid]).unwrap_or_default());
                valid
            }
        };
        buffer.copy_within(valid..filled, 0);
        (offset, held) = (offset + to_u64(valid), filled - valid);
    }
}
