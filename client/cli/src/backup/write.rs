//! Writes a backup: a tar archive, one file after the other.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use herma_base::progress::Progress;
use herma_base::{CliContext, Failure};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::parts::{ARCHIVE, Parts};
use super::{Contents, FORM, MANIFEST, Manifest, SUMS};

/// The mode of the entries that are no file of the home.
const PRIVATE: u32 = 0o600;

/// Writes everything. `folder` has room for a copy of the conversations.
pub(super) fn all(context: &CliContext<'_>, folder: &Path, to: &mut dyn Write) -> Result<Contents, Failure> {
    let home = &context.place.home;
    let failed = |path: &Path, error: io::Error| Failure::File(format!("{}: {error}", path.display()));
    let parts = Parts::find(home).map_err(|error| failed(home, error))?;
    if parts.before.is_empty() && parts.after.is_empty() && !home.join(ARCHIVE).exists() {
        return Err(Failure::File(format!("{} has nothing of herma's", home.display())));
    }
    let total = parts.before.iter().chain(&parts.after).map(|part| length(&home.join(part))).sum::<u64>()
        + length(&home.join(ARCHIVE));
    let mut pack = Pack {
        tar: Builder::new(to),
        sums: String::new(),
        links: HashMap::new(),
        contents: Contents::default(),
        progress: Progress::new(!context.common.json, 0, total, "files"),
    };
    let manifest = Manifest {
        backup: FORM,
        herma: env!("CARGO_PKG_VERSION").to_owned(),
        time: jiff::Timestamp::now().as_second(),
        home: home.display().to_string(),
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| failed(Path::new(MANIFEST), error.into()))?;
    pack.text(MANIFEST, &text).map_err(|error| failed(Path::new(MANIFEST), error))?;
    for part in &parts.before {
        pack.file(part, &home.join(part)).map_err(|error| failed(&home.join(part), error))?;
    }
    if home.join(ARCHIVE).exists() {
        let copy = tempfile::Builder::new().prefix(".herma-backup-").tempfile_in(folder);
        let copy = copy.map_err(|error| failed(folder, error))?;
        copied(&home.join(ARCHIVE), copy.path()).map_err(|error| failed(&home.join(ARCHIVE), error))?;
        pack.file(Path::new(ARCHIVE), copy.path()).map_err(|error| failed(copy.path(), error))?;
    }
    for part in &parts.after {
        pack.file(part, &home.join(part)).map_err(|error| failed(&home.join(part), error))?;
    }
    let sums = std::mem::take(&mut pack.sums);
    let written = pack.text(SUMS, sums.as_bytes()).and_then(|()| pack.tar.finish());
    written.map_err(|error| failed(Path::new(SUMS), error))?;
    pack.progress.clear();
    Ok(pack.contents)
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Copies a database that others may write to, as it is at one moment.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let copy = || {
        let from = Connection::open_with_flags(from, flags)?;
        let mut to = Connection::open(to)?;
        // All pages in one step: no writer comes between them.
        Backup::new(&from, &mut to)?.run_to_completion(i32::MAX, std::time::Duration::ZERO, None)
    };
    copy().map_err(io::Error::other)
}

/// A backup that is being written.
struct Pack<'a> {
    tar: Builder<&'a mut dyn Write>,
    /// A line for each file: its checksum and its name.
    sums: String,
    /// The files with several names, by device and inode, with their first name and checksum.
    links: HashMap<(u64, u64), (PathBuf, String)>,
    contents: Contents,
    progress: Progress,
}

impl Pack<'_> {
    /// Adds a file. One that was removed meanwhile is left out.
    fn file(&mut self, name: &Path, path: &Path) -> io::Result<()> {
        if name.to_str().is_none_or(|name| name.contains('\n')) {
            return Err(io::Error::other("its name is no line of UTF-8; rename it"));
        }
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let found = file.metadata()?;
        let key = (found.dev(), found.ino());
        if let Some((first, sum)) = self.links.get(&key) {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::Link);
            header.set_size(0);
            header.set_mode(found.permissions().mode() & 0o777);
            let line = line(sum, name);
            self.tar.append_link(&mut header, name, first)?;
            self.sums.push_str(&line);
            return Ok(());
        }
        // A file that grows meanwhile is as it was when it was opened.
        let length = found.len();
        let mut header = Header::new_gnu();
        header.set_size(length);
        header.set_mode(found.permissions().mode() & 0o777);
        header.set_mtime(found.mtime().try_into().unwrap_or(0));
        let mut summed = Summed { inner: file.take(length), hash: Sha256::new(), left: length };
        self.tar.append_data(&mut header, name, &mut summed)?;
        if summed.left > 0 {
            return Err(io::Error::other("it became shorter while it was read; try again"));
        }
        let sum = hex(summed.hash);
        self.sums.push_str(&line(&sum, name));
        if found.nlink() > 1 {
            self.links.insert(key, (name.to_owned(), sum));
        }
        self.contents.files += 1;
        self.contents.bytes += length;
        self.progress.draw(self.contents.bytes, self.contents.files);
        Ok(())
    }

    fn text(&mut self, name: &str, text: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(PRIVATE);
        self.tar.append_data(&mut header, name, text)
    }
}

/// Returns a line of the checksums.
fn line(sum: &str, name: &Path) -> String {
    format!("{sum}  {}\n", name.display())
}

/// Returns a checksum in hexadecimal digits.
pub(super) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Computes the checksum of what is read, and counts what is missing at the end.
struct Summed<R> {
    inner: R,
    hash: Sha256,
    left: u64,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}
