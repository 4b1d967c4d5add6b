//! Writes a backup: a tar archive, one file after the other.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_base::progress::Progress;
use herma_base::settings_file::remove_drafts;
use herma_base::{CliContext, Failure};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::parts::{self, ARCHIVE};
use super::{Contents, FORM, MANIFEST, Manifest, SUMS};

/// The mode of the entries that are no file of the home.
const PRIVATE: u32 = 0o600;

/// How long another program may have the conversations locked.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a part is listed again because a file was renamed or removed while it was read.
const LISTS: usize = 20;

/// The part whose files may have several names, because equal outputs are one file.
const LINKED: &str = "herma/outputs";

/// Writes everything. `folder` has room for a copy of the conversations.
pub(super) fn all(context: &CliContext<'_>, folder: &Path, to: &mut dyn Write) -> Result<Contents, Failure> {
    let home = &context.place.home;
    // What backups that were killed have left.
    remove_drafts(folder);
    let before = parts::before(home).map_err(|error| failed(home, error))?;
    let mut total = length(&home.join(ARCHIVE));
    for part in before.iter().chain(&parts::after()) {
        let listing = parts::list(home, part).map_err(|error| failed(&home.join(part), error))?;
        total += listing.files.iter().map(|file| length(&home.join(file))).sum::<u64>();
    }
    if total == 0 {
        return Err(Failure::File(format!("{} has nothing of herma's", home.display())));
    }
    let mut pack = Pack {
        tar: Builder::new(to),
        sums: String::new(),
        links: HashMap::new(),
        contents: Contents::default(),
        progress: Progress::new(context.common.shows_progress(), 0, total, "file"),
    };
    let manifest = Manifest {
        backup: FORM,
        herma: env!("CARGO_PKG_VERSION").to_owned(),
        time: jiff::Timestamp::now().as_second(),
        home: home.display().to_string(),
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| failed(Path::new(MANIFEST), error.into()))?;
    pack.text(MANIFEST, &text).map_err(|error| failed(Path::new(MANIFEST), error))?;
    for part in &before {
        pack.part(home, part)?;
    }
    if home.join(ARCHIVE).exists() {
        let copy = tempfile::Builder::new().prefix(&format!(".herma.{}.", std::process::id())).tempfile_in(folder);
        let copy = copy.map_err(|error| failed(folder, error))?;
        copied(&home.join(ARCHIVE), copy.path()).map_err(|error| failed(&home.join(ARCHIVE), error))?;
        pack.file(Path::new(ARCHIVE), copy.path()).map_err(|error| failed(copy.path(), error))?;
    }
    for part in &parts::after() {
        pack.part(home, part)?;
    }
    let sums = std::mem::take(&mut pack.sums);
    let written = pack.text(SUMS, sums.as_bytes()).and_then(|()| pack.tar.finish());
    written.map_err(|error| failed(Path::new(SUMS), error))?;
    pack.progress.clear();
    Ok(pack.contents)
}

fn failed(path: &Path, error: io::Error) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Copies a database that others may write to, as it is at one moment.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let copy = || {
        let from = Connection::open_with_flags(from, flags)?;
        from.busy_timeout(PATIENCE)?;
        let mut to = Connection::open(to)?;
        // All pages in one step: no writer comes between them.
        Backup::new(&from, &mut to)?.step(-1)
    };
    match copy().map_err(io::Error::other)? {
        StepResult::Done => Ok(()),
        _ => Err(io::Error::other("another program has locked it")),
    }
}

/// A backup that is being written.
struct Pack<'a> {
    tar: Builder<&'a mut dyn Write>,
    /// A line for each file: its checksum and its name.
    sums: String,
    /// The files with several names, by device and inode, with their first name and checksum.
    links: HashMap<(u64, u64, u64, i64), (PathBuf, String)>,
    contents: Contents,
    progress: Progress,
}

impl Pack<'_> {
    /// Adds the files of a part. It is listed until no file was renamed or removed between two lists: a list from before
    /// that may have the old name, which is gone, and not the new one.
    fn part(&mut self, home: &Path, part: &Path) -> Result<(), Failure> {
        let (mut packed, mut last) = (BTreeSet::new(), None);
        for _ in 0..LISTS {
            let listing = parts::list(home, part).map_err(|error| failed(&home.join(part), error))?;
            let mut is_whole = !listing.has_gaps;
            for name in listing.files.difference(&packed).cloned().collect::<Vec<_>>() {
                let path = home.join(&name);
                if self.file(&name, &path).map_err(|error| failed(&path, error))? {
                    packed.insert(name);
                } else {
                    is_whole = false;
                }
            }
            if is_whole && last.is_some_and(|last: BTreeSet<PathBuf>| last.is_subset(&listing.files)) {
                return Ok(());
            }
            last = is_whole.then_some(listing.files);
        }
        Err(Failure::File(format!("{} changes all the time; try again later", home.join(part).display())))
    }

    /// Adds a file. Returns false if it is gone.
    fn file(&mut self, name: &Path, path: &Path) -> io::Result<bool> {
        if name.to_str().is_none_or(|name| name.contains('\n')) {
            return Err(io::Error::other("its name is no line of UTF-8; rename it"));
        }
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        let found = file.metadata()?;
        // An inode that was freed meanwhile may be another file's.
        let key = (found.dev(), found.ino(), found.len(), found.mtime_nsec());
        let may_be_link = name.starts_with(LINKED) && found.nlink() > 1;
        if let Some((first, sum)) = self.links.get(&key).filter(|_| may_be_link) {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::Link);
            header.set_size(0);
            header.set_mode(found.permissions().mode() & 0o777);
            let line = line(sum, name);
            self.tar.append_link(&mut header, name, first)?;
            self.sums.push_str(&line);
            return Ok(true);
        }
        // A file that grows meanwhile is as it was when it was opened.
        let length = found.len();
        let mut header = Header::new_gnu();
        header.set_size(length);
        header.set_mode(found.permissions().mode() & 0o777);
        header.set_mtime(found.mtime().try_into().unwrap_or(0));
        let mut summed = Summed::new(file.take(length));
        self.tar.append_data(&mut header, name, &mut summed)?;
        if summed.inner.limit() > 0 {
            return Err(io::Error::other("it became shorter while it was read; try again"));
        }
        let sum = summed.sum();
        self.sums.push_str(&line(&sum, name));
        if may_be_link {
            self.links.insert(key, (name.to_owned(), sum));
        }
        self.contents.files += 1;
        self.contents.bytes += length;
        self.progress.draw(self.contents.bytes, self.contents.files);
        Ok(true)
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

/// Computes the checksum of what is read.
pub(super) struct Summed<R> {
    inner: R,
    hash: Sha256,
}

impl<R> Summed<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    /// Returns the checksum in hexadecimal digits.
    pub(super) fn sum(self) -> String {
        base16ct::lower::encode_string(&self.hash.finalize())
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}
