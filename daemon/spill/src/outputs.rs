//! The folder with the full texts: `<root>/<session>/<id>.txt`.
//!
//! A handle is made of the two names, so that it leads to its file without an
//! index, after a restart too.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use herma_disk::file::{self, Created, Temporary};
use herma_disk::{DiskError, folder};

use crate::name;

/// Largest output that is read back, in bytes.
const FILE_LIMIT: u64 = 1 << 30;

/// Age after which a temporary file is one that a killed daemon left.
const LEFTOVER: Duration = Duration::from_mins(1);

const TEMPORARY: Temporary = Temporary { prefix: ".out_", suffix: ".tmp" };

/// Spilled outputs on disk. Any thread may use it: files are only ever created.
#[derive(Debug)]
pub struct Outputs {
    root: PathBuf,
    /// Where the handles lead that were seen since the start.
    seen: Mutex<HashMap<String, PathBuf>>,
}

/// A text that is on disk now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Names it.
    pub handle: String,
    /// Where it is.
    pub path: PathBuf,
}

/// Why an output can't be given.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// There is none of that handle or path.
    #[error("there is no output {0:?}")]
    NotFound(String),
    /// The path leads somewhere else.
    #[error("{0:?} is not the path of an output")]
    Outside(String),
    /// It is no JSON, so it can't be shown as such.
    #[error("the output is not JSON: {0}")]
    NotJson(String),
    /// A file operation failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Outputs {
    /// The outputs below `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root, seen: Mutex::default() }
    }

    /// Removes files that a killed daemon left half-written. Only the holder of the
    /// home's lock may call this.
    ///
    /// # Errors
    /// A folder that can't be read, or a file that can't be removed.
    pub fn sweep(&self) -> Result<(), DiskError> {
        for session in folder::names(&self.root)? {
            let below = self.root.join(session);
            if below.is_dir() {
                folder::sweep(&below, TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, SystemTime::now())?;
            }
        }
        Ok(())
    }

    /// Number and bytes of the files.
    ///
    /// # Errors
    /// A folder that can't be read.
    pub fn usage(&self) -> Result<(u64, u64), DiskError> {
        folder::usage_below(&self.root)
    }

    /// Keeps a text, whole and durable, before this returns. The same text under
    /// the same id is kept once; another text under the same id gets a name of
    /// its own.
    ///
    /// # Errors
    /// Whatever step failed; nothing is kept then.
    pub fn keep(&self, session: &str, id: &str, text: &str) -> Result<Kept, DiskError> {
        folder::create_private(&self.root)?;
        let session = name::safe(session);
        let folder = self.root.join(&session);
        folder::create_private(&folder)?;
        let (id, hash) = (name::safe(id), name::hex(text.as_bytes()));
        let names = [format!("{id}.txt"), format!("{id}-{}.txt", &hash[..8]), format!("{id}-{hash}.txt")];
        let mut failure = None;
        for name in names {
            let path = folder.join(&name);
            if file::holds(&path, text.as_bytes())?
                || file::create(&path, text.as_bytes(), TEMPORARY)? == Created::New
                || file::holds(&path, text.as_bytes())?
            {
                let handle = name::handle(&session, &name);
                self.remember(&handle, &path);
                return Ok(Kept { handle, path });
            }
            failure = Some(path);
        }
        Err(DiskError {
            operation: "create",
            path: failure.unwrap_or(folder),
            source: std::io::Error::from(std::io::ErrorKind::AlreadyExists),
        })
    }

    /// The whole text of an output.
    ///
    /// # Errors
    /// No such output, or one that can't be read.
    pub fn read(&self, handle: &str) -> Result<String, SpillError> {
        self.read_file(&self.find(handle)?, handle)
    }

    /// The whole text of the output at a path.
    ///
    /// # Errors
    /// A path outside the folder, no such file, or one that can't be read.
    pub fn read_path(&self, path: &str) -> Result<String, SpillError> {
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
        match names.as_deref() {
            Some([session, file]) => self.read_file(&self.root.join(session).join(file), path),
            _ => Err(SpillError::Outside(shorten(path))),
        }
    }

    fn read_file(&self, path: &Path, asked: &str) -> Result<String, SpillError> {
        let inside = match (file::real_path(&self.root)?, file::real_path(path)?) {
            (Some(root), Some(real)) => real.starts_with(root),
            _ => return Err(SpillError::NotFound(shorten(asked))),
        };
        if !inside {
            return Err(SpillError::Outside(shorten(asked)));
        }
        match file::read_text(path, FILE_LIMIT)? {
            Some((text, _)) => Ok(text),
            None => Err(SpillError::NotFound(shorten(asked))),
        }
    }

    fn find(&self, handle: &str) -> Result<PathBuf, SpillError> {
        if let Some(path) = self.seen.lock().ok().and_then(|seen| seen.get(handle).cloned()) {
            return Ok(path);
        }
        for session in folder::names(&self.root)? {
            let below = self.root.join(&session);
            if !below.is_dir() {
                continue;
            }
            if let Some(file) = folder::names(&below)?.into_iter().find(|file| name::handle(&session, file) == handle) {
                let path = below.join(file);
                self.remember(handle, &path);
                return Ok(path);
            }
        }
        Err(SpillError::NotFound(shorten(handle)))
    }

    fn remember(&self, handle: &str, path: &Path) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.insert(handle.to_owned(), path.to_owned());
        }
    }
}

/// What is repeated of a text from outside.
fn shorten(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_text_comes_back_by_handle_and_by_path_after_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("outputs");
        let kept = Outputs::new(root.clone()).keep("s", "call_1", "text").unwrap();
        assert_eq!(kept.path, root.join("s/call_1.txt"));
        let again = Outputs::new(root);
        assert_eq!(again.read(&kept.handle).unwrap(), "text");
        assert_eq!(again.read_path(kept.path.to_str().unwrap()).unwrap(), "text");
    }

    #[test]
    fn a_repeated_id_never_overwrites() {
        let home = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(home.path().join("outputs"));
        let one = outputs.keep("s", "call_1", "one").unwrap();
        let two = outputs.keep("s", "call_1", "two").unwrap();
        assert_ne!(one, two);
        assert_eq!(outputs.keep("s", "call_1", "one").unwrap(), one);
        assert_eq!(outputs.keep("s", "call_1", "two").unwrap(), two);
        assert_eq!(outputs.read(&one.handle).unwrap(), "one");
        assert_eq!(outputs.read(&two.handle).unwrap(), "two");
        assert_eq!(outputs.usage().unwrap(), (2, 6));
    }

    #[test]
    fn nothing_outside_can_be_read_or_written() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("outputs");
        let outputs = Outputs::new(root.clone());
        file::replace(&home.path().join("secret.txt"), b"secret", TEMPORARY).unwrap();
        let kept = outputs.keep("../..", "../../x", "text").unwrap();
        assert!(kept.path.starts_with(&root) && kept.path.components().all(|part| part != Component::ParentDir));
        for path in ["etc", "../secret.txt", "s/../../secret.txt", "", "/"] {
            assert!(matches!(outputs.read_path(path), Err(SpillError::Outside(_))), "{path}");
            let inside = format!("{}/{path}", root.display());
            assert!(matches!(outputs.read_path(&inside), Err(SpillError::Outside(_))), "{inside}");
        }
        assert!(matches!(outputs.read("out_nothing"), Err(SpillError::NotFound(_))));
    }
}
