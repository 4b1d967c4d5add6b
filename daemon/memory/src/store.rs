//! A store on disk: lock, re-read if the file changed, apply, replace the file,
//! count the revision, answer.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_disk::file::{self, Temporary};
use herma_disk::lock::Lock;
use herma_disk::stamp::Stamp;
use herma_disk::{DiskError, folder};

use crate::change::{self, Applied, Changes, Drift, Rules};
use crate::entries::{chars, join, parse};
use crate::refusal::Refusal;
use crate::revision::{self, Revision, hash};
use crate::target::Target;
use crate::usage::Usage;

/// Largest file that is read as a store, in bytes: far beyond any limit in
/// chars, so that a store that grew elsewhere can still be read and shrunk.
const FILE_LIMIT: u64 = 16 << 20;

/// Copies of drifted stores that are kept.
const BACKUPS: usize = 5;

/// Age after which a temporary file is one that a killed process left.
const LEFTOVER: Duration = Duration::from_mins(1);

const TEMPORARY: Temporary = Temporary { prefix: ".mem_", suffix: ".tmp" };

/// Where the files of a store are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// MEMORY.md or USER.md.
    pub file: PathBuf,
    /// Where the revision is kept.
    pub revision: PathBuf,
}

impl Paths {
    /// `<file>.lock`: what Hermes locks too.
    fn lock(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(".lock");
        name.into()
    }
}

/// Why a store can't be used. What is on disk is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is there but can't be read as a store.
    #[error("{} can't be read, so nothing is written to it: {reason}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A lock, write or sync failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The store.
    pub target: Target,
    /// Its limit in chars.
    pub limit: usize,
    /// Its entries.
    pub entries: Vec<String>,
    /// Its revision.
    pub revision: u64,
}

impl View {
    /// How full it is.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage { chars: chars(&self.entries), limit: self.limit }
    }

    /// It is longer than its limit.
    #[must_use]
    pub fn over_limit(&self) -> bool {
        self.usage().chars > self.limit
    }

    /// An entry is longer than the whole limit.
    #[must_use]
    pub fn drifted(&self) -> bool {
        change::longest(&self.entries) > self.limit
    }
}

/// One store, owned by one thread.
///
/// Invariant: `known` is what the file held when it was last read or written;
/// it is forgotten after any failure, so that the file is read again before the
/// next change.
#[derive(Debug)]
pub struct Store {
    paths: Paths,
    target: Target,
    limit: usize,
    known: Option<Known>,
    swept: bool,
}

#[derive(Debug, Clone)]
struct Known {
    stamp: Option<Stamp>,
    entries: Vec<String>,
    revision: Revision,
    /// The revision could not be kept yet.
    unsaved: bool,
}

impl Store {
    /// A store that is read when it is first used. `limit` is in chars.
    #[must_use]
    pub const fn new(paths: Paths, target: Target, limit: usize) -> Self {
        Self { paths, target, limit, known: None, swept: false }
    }

    /// What the store holds now. The file is read only when it changed.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn view(&mut self) -> Result<View, StoreError> {
        self.refresh()?;
        Ok(self.current())
    }

    /// Removes temporary files that a killed process left, unless another program
    /// holds the lock right now; then [`Store::begin`] does it later.
    ///
    /// # Errors
    /// A folder that can't be read, or a file that can't be removed.
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        let stores = self.paths.file.parent().unwrap_or(Path::new("."));
        if !self.swept
            && stores.is_dir()
            && let Some(_lock) = Lock::try_now(&self.paths.lock())?
        {
            folder::sweep(stores, TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, SystemTime::now())?;
            if let Some(journal) = self.paths.revision.parent() {
                revision::sweep(journal, LEFTOVER)?;
            }
            self.swept = true;
        }
        Ok(())
    }

    /// Locks the store, as every program that writes to it does, and reads what
    /// is new. `None` while another program holds the lock.
    ///
    /// # Errors
    /// A folder or lock that can't be made, or a file that can't be read.
    pub fn begin(&mut self) -> Result<Option<Transaction<'_>>, StoreError> {
        let stores = self.paths.file.parent().unwrap_or(Path::new("."));
        folder::create(stores)?;
        let Some(lock) = Lock::try_now(&self.paths.lock())? else { return Ok(None) };
        if !self.swept {
            folder::sweep(stores, TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, SystemTime::now())?;
            self.swept = true;
        }
        self.refresh()?;
        if let Some(mut known) = self.known.take() {
            if known.unsaved {
                self.save(&known.revision)?;
                known.unsaved = false;
            }
            self.known = Some(known);
        }
        let View { entries, revision, .. } = self.current();
        Ok(Some(Transaction { store: self, _lock: lock, entries, revision }))
    }

    fn current(&self) -> View {
        let (entries, revision) = match &self.known {
            Some(known) => (known.entries.clone(), known.revision.revision),
            None => (Vec::new(), 0),
        };
        View { target: self.target, limit: self.limit, entries, revision }
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        let unreadable =
            |error: DiskError| StoreError::Unreadable { path: error.path.clone(), reason: error.source.to_string() };
        let now = Stamp::now(&self.paths.file).map_err(unreadable)?;
        if self.known.as_ref().is_some_and(|known| known.stamp == now) {
            return Ok(());
        }
        self.known = None;
        let read = file::read_text(&self.paths.file, FILE_LIMIT).map_err(unreadable)?;
        let (text, stamp) = read.map_or((String::new(), None), |(text, stamp)| (text, Some(stamp)));
        let recorded = Revision::load(&self.paths.revision).map_err(unreadable)?;
        let revision = Revision::following(recorded.clone(), &text);
        let is_news = recorded.as_ref() != Some(&revision) && (stamp.is_some() || recorded.is_some());
        // Whoever only reads needs no disk that can be written.
        let unsaved = is_news && self.save(&revision).is_err();
        self.known = Some(Known { stamp, entries: parse(&text), revision, unsaved });
        Ok(())
    }

    fn save(&self, revision: &Revision) -> Result<(), StoreError> {
        if let Some(parent) = self.paths.revision.parent() {
            folder::create(parent)?;
        }
        Ok(revision.save(&self.paths.revision)?)
    }

    /// Copies the file, once for each distinct content, and keeps the newest
    /// few copies.
    fn back_up(&self) -> Result<PathBuf, DiskError> {
        let text = file::read_bytes(&self.paths.file, FILE_LIMIT)?.map(|(text, _)| text).unwrap_or_default();
        let stores = self.paths.file.parent().unwrap_or(Path::new("."));
        let prefix = format!("{}.bak.", self.target.file_name());
        let suffix = format!("-{}", &hash(&String::from_utf8_lossy(&text))[..8]);
        // Only its own copies, not those of Hermes or of a person.
        let is_own = |name: &String| {
            let rest = name.strip_prefix(&prefix).and_then(|rest| rest.split_once('-'));
            rest.is_some_and(|(seconds, hash)| {
                seconds.bytes().all(|byte| byte.is_ascii_digit()) && hash.len() == 8 && !seconds.is_empty()
            })
        };
        let copies = || folder::names(stores).map(|names| names.into_iter().filter(is_own));
        if let Some(name) = copies()?.find(|name| name.ends_with(&suffix)) {
            return Ok(stores.join(name));
        }
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = stores.join(format!("{prefix}{seconds}{suffix}"));
        file::create(&path, &text, TEMPORARY)?;
        let mut all: Vec<String> = copies()?.collect();
        let surplus = all.len().saturating_sub(BACKUPS);
        for name in all.drain(..surplus) {
            file::remove(&stores.join(name))?;
        }
        Ok(path)
    }
}

/// A locked store and what the changes so far made of it. Dropped without
/// [`Transaction::commit`], nothing happened.
#[derive(Debug)]
pub struct Transaction<'a> {
    store: &'a mut Store,
    _lock: Lock,
    entries: Vec<String>,
    revision: u64,
}

impl Transaction<'_> {
    /// What the store holds, with the changes so far.
    #[must_use]
    pub fn view(&self) -> View {
        View {
            target: self.store.target,
            limit: self.store.limit,
            entries: self.entries.clone(),
            revision: self.revision,
        }
    }

    /// Applies a change, or says why not. Nothing is on disk yet.
    ///
    /// # Errors
    /// The refusal; one for a drifted store names the copy that was made of it.
    pub fn apply(&mut self, changes: &Changes, drift: Drift) -> Result<Applied, Refusal> {
        let rules = Rules { target: self.store.target, limit: self.store.limit, drift };
        let drifted = change::longest(&self.entries) > rules.limit;
        let applied = change::apply(&self.entries, changes, rules).map_err(|refusal| match refusal {
            Refusal::Drift { target, longest, limit, .. } => {
                let backup = self.store.back_up().map_err(|error| error.to_string());
                Refusal::Drift { target, longest, limit, backup: Some(backup) }
            }
            other => other,
        })?;
        if applied.entries != self.entries {
            if drifted && let Err(error) = self.store.back_up() {
                return Err(Refusal::Drift {
                    target: rules.target,
                    longest: change::longest(&self.entries),
                    limit: rules.limit,
                    backup: Some(Err(error.to_string())),
                });
            }
            self.revision += 1;
            self.entries.clone_from(&applied.entries);
        }
        Ok(applied)
    }

    /// Makes the changes durable. The revision goes first: a daemon that is killed
    /// between the two finds a text that it doesn't know, which is the next
    /// revision, so that revisions only ever grow. After an error the store is read
    /// again before anything else is done with it.
    ///
    /// # Errors
    /// A write or sync that failed; the file then has its old content, unless only
    /// the last sync of its folder failed.
    pub fn commit(self) -> Result<(), StoreError> {
        let Some(known) = self.store.known.take() else { return Ok(()) };
        if known.revision.revision == self.revision {
            self.store.known = Some(known);
            return Ok(());
        }
        let text = join(&self.entries);
        let revision = Revision { revision: self.revision, sha256: hash(&text) };
        self.store.save(&revision)?;
        // Changes that cancel out leave the file as it was.
        let stamp = match known.entries == self.entries && known.revision.sha256 == revision.sha256 {
            true => known.stamp,
            false => Some(file::replace(&self.store.paths.file, text.as_bytes(), TEMPORARY)?),
        };
        self.store.known = Some(Known { stamp, entries: self.entries, revision, unsaved: false });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::change::Change;

    fn store(home: &Path) -> Store {
        let paths = Paths { file: home.join("m/MEMORY.md"), revision: home.join("j/memory.revision.json") };
        Store::new(paths, Target::Memory, 40)
    }

    fn add(store: &mut Store, content: &str) -> Result<Applied, Refusal> {
        let mut transaction = store.begin().unwrap().unwrap();
        let change = Changes::Single(Change::Add { content: content.into() });
        let applied = transaction.apply(&change, Drift::Refused)?;
        transaction.commit().unwrap();
        Ok(applied)
    }

    fn put(home: &Path, text: &[u8]) {
        folder::create(&home.join("m")).unwrap();
        file::replace(&home.join("m/MEMORY.md"), text, TEMPORARY).unwrap();
    }

    fn remove(store: &mut Store, old_text: &str, drift: Drift) -> Result<Applied, Refusal> {
        let mut transaction = store.begin().unwrap().unwrap();
        let change = Changes::Single(Change::Remove { old_text: old_text.into() });
        let applied = transaction.apply(&change, drift)?;
        transaction.commit().unwrap();
        Ok(applied)
    }

    #[test]
    fn revisions_grow_by_one_with_every_change_and_survive() {
        let home = tempfile::tempdir().unwrap();
        let mut first = store(home.path());
        assert_eq!(first.view().unwrap().revision, 0);
        add(&mut first, "one").unwrap();
        add(&mut first, "one").unwrap();
        add(&mut first, "two").unwrap();
        assert_eq!(first.view().unwrap().revision, 2);
        put(home.path(), b"one\n\xc2\xa7\nby hand");
        assert_eq!(first.view().unwrap().revision, 3);
        let again = store(home.path()).view().unwrap();
        assert_eq!((again.revision, again.entries), (3, vec!["one".to_owned(), "by hand".to_owned()]));
    }

    #[test]
    fn changes_that_cancel_out_are_revisions_too() {
        let home = tempfile::tempdir().unwrap();
        let mut store = store(home.path());
        add(&mut store, "one").unwrap();
        let mut transaction = store.begin().unwrap().unwrap();
        for change in [Change::Add { content: "two".into() }, Change::Remove { old_text: "two".into() }] {
            transaction.apply(&Changes::Single(change), Drift::Refused).unwrap();
        }
        transaction.commit().unwrap();
        assert_eq!(store.view().unwrap().revision, 3);
        assert_eq!(self::store(home.path()).view().unwrap().revision, 3);
    }

    #[test]
    fn a_change_by_another_program_is_never_lost() {
        let home = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (store(home.path()), store(home.path()));
        add(&mut one, "one").unwrap();
        add(&mut other, "two").unwrap();
        add(&mut one, "three").unwrap();
        assert_eq!(other.view().unwrap().entries, ["one", "two", "three"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_touched() {
        let home = tempfile::tempdir().unwrap();
        put(home.path(), b"\xff\xfe broken");
        let mut store = store(home.path());
        assert!(matches!(store.view(), Err(StoreError::Unreadable { .. })));
        assert!(matches!(store.begin(), Err(StoreError::Unreadable { .. })));
        assert!(file::holds(&home.path().join("m/MEMORY.md"), b"\xff\xfe broken").unwrap());
        put(home.path(), b"mended");
        assert_eq!(store.view().unwrap().entries, ["mended"]);
    }

    #[test]
    fn a_drifted_store_is_copied_once_before_it_is_refused_or_changed() {
        let home = tempfile::tempdir().unwrap();
        let long = "x".repeat(41);
        put(home.path(), long.as_bytes());
        let mut store = store(home.path());
        let refused = |store: &mut Store| match remove(store, "x", Drift::Refused) {
            Err(Refusal::Drift { backup: Some(Ok(path)), .. }) => path,
            other => panic!("{other:?}"),
        };
        let path = refused(&mut store);
        assert_eq!(refused(&mut store), path);
        assert!(path.to_string_lossy().contains("MEMORY.md.bak."));
        assert!(file::holds(&path, long.as_bytes()).unwrap());
        assert!(remove(&mut store, "x", Drift::Allowed).unwrap().entries.is_empty());
    }

    #[test]
    fn at_most_five_copies_are_kept() {
        let home = tempfile::tempdir().unwrap();
        for length in 41..50 {
            put(home.path(), "x".repeat(length).as_bytes());
            assert!(remove(&mut store(home.path()), "x", Drift::Refused).is_err());
        }
        let names = folder::names(&home.path().join("m")).unwrap();
        assert_eq!(names.iter().filter(|name| name.contains(".bak.")).count(), 5);
    }
}
