//! The known state of a store's file, and how a changed file is interpreted.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use herma_disk::DiskError;
use herma_disk::file::{self, CommittedFile};
use herma_disk::stamp::Stamp;

use super::{Event, FILE_LIMIT, Store, StoreError, TEMPORARY, unix};
use crate::bound::part;
use crate::entries::{Entry, join, parse};
use crate::journal::Journal;
use crate::journal::line::{Action, Author, Replaced, Row};
use crate::legacy;
use crate::recovery::{Past, Verdict, Written, judge, merge};

/// Pause between two reads of a file that another program is writing.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a file that has just become empty is read again.
const PATIENCE: Duration = Duration::from_millis(60);

/// How many times in a row an outdated file is written while other programs keep changing it.
const CATCH_UPS: usize = 4;

/// The content of the file at its last read or write.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) stamp: Option<Stamp>,
    /// Whether any later write would have changed the stamp.
    pub(super) settled: bool,
    /// The file, if this store put it in place.
    pub(super) placed: Option<CommittedFile>,
    /// Whether the file survives a power cut, or goes back only to a version that this store put in place.
    pub(super) durable: bool,
    pub(super) entries: Arc<[Entry]>,
    /// Of a shared store: the host-bound entries of the file. No other field contains them.
    pub(super) bound: Arc<[Entry]>,
    pub(super) revision: u64,
    /// The file's entries, if the file is at an older revision and must be replaced.
    pub(super) behind: Option<Arc<[Entry]>>,
    /// Changes by other programs that are not in the journal yet.
    pub(super) unwritten: Vec<Row>,
    /// Of a shared store: the entries after an edit by another program that has no revision yet.
    pub(super) held: Option<Arc<[Entry]>>,
    /// Of a shared store: the file's entries when all of them had a revision. Set only if they differ from `entries`,
    /// because an edit got its revision and the disk has not followed yet.
    pub(super) accounted: Option<Arc<[Entry]>>,
    /// Of a shared store: the value of `held` when a revision was requested for it. The file may have changed by the
    /// time the revision arrives.
    pub(super) proposed: Option<Arc<[Entry]>>,
}

impl Known {
    /// Returns the entries that the file should have.
    pub(super) fn wanted(&self) -> &Arc<[Entry]> {
        self.held.as_ref().unwrap_or(self.base())
    }

    /// Returns the entries that an edit of the file starts from.
    pub(super) fn base(&self) -> &Arc<[Entry]> {
        self.accounted.as_ref().unwrap_or(&self.entries)
    }

    /// Returns the text of the file with these entries.
    pub(super) fn text(&self, entries: &[Entry]) -> String {
        join(&all(entries, &self.bound))
    }

    /// Returns these entries followed by the host-bound ones.
    pub(super) fn with_bound(&self, entries: &Arc<[Entry]>) -> Arc<[Entry]> {
        if self.bound.is_empty() { Arc::clone(entries) } else { all(entries, &self.bound).into() }
    }

    /// Whether the file is at the newest revision and the journal has it.
    pub(super) fn is_clean(&self) -> bool {
        self.behind.is_none() && self.held.is_none() && self.unwritten.is_empty()
    }

    /// Syncs the changes of other programs before a row records them. Otherwise a power cut could undo a recorded
    /// change, and that would look like an edit.
    pub(super) fn make_durable(&mut self, file: &Path) -> Result<(), DiskError> {
        if !self.durable {
            file::sync(file)?;
            self.durable = true;
        }
        Ok(())
    }
}

impl Store {
    /// Reads the file if it changed, and makes a revision of changes by other programs.
    pub(super) fn refresh(&mut self) -> Result<(), StoreError> {
        let now = Stamp::now(&self.paths.file).map_err(StoreError::unreadable)?;
        let is_same = |known: &Known| {
            known.stamp == now && (known.settled || known.placed.as_ref().is_some_and(CommittedFile::is_held))
        };
        let journal_is_current = self.journal.as_ref().is_none_or(Journal::is_current);
        if journal_is_current && self.known.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        if !journal_is_current {
            self.forget();
        }
        let before = self.known.take();
        let read = self.read();
        self.was_unreadable |= read.is_err();
        let (text, stamp, settled) = read.map_err(StoreError::unreadable)?;
        let is_empty = text.trim().is_empty();
        let (found, bound) = if self.is_shared { part(parse(&text)) } else { (parse(&text), Vec::new()) };
        let known = match before {
            Some(mut known) => {
                // As for shared entries, a missing or empty file does not delete the host-bound ones.
                let was_emptied = is_empty && !known.bound.is_empty();
                if !was_emptied {
                    known.bound = bound.into();
                }
                known.durable &= known.stamp == stamp;
                (known.stamp, known.settled, known.placed) = (stamp, settled, None);
                match known.behind.clone() {
                    _ if self.is_shared && was_emptied => known.behind = Some(Arc::default()),
                    _ if self.is_shared => known.hold(found),
                    Some(held) if *held != *found => self.take_merged(&mut known, &held, found),
                    None if *known.entries != *found => self.take_external(&mut known, found),
                    _ => {}
                }
                known
            }
            None => self.open((found, bound), stamp, settled)?,
        };
        let known = self.known.insert(known);
        if !known.unwritten.is_empty()
            && known.make_durable(&self.paths.file).is_ok()
            && let Some(journal) = &mut self.journal
            && journal.append(known.unwritten.clone()).is_ok()
        {
            // A failed append is not an error: a reader needs no writable disk.
            known.unwritten.clear();
        }
        Ok(())
    }

    /// Returns the file's text and stamp, and whether any later write would have changed the stamp. A file that has
    /// just become empty is read again for a while, because an editor that writes in place truncates it first.
    fn read(&self) -> Result<(String, Option<Stamp>, bool), DiskError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let reading = SystemTime::now();
            let read = file::read_text(&self.paths.file, FILE_LIMIT)?;
            let (text, stamp) = read.map_or((String::new(), None), |(text, stamp)| (text, Some(stamp)));
            let settled = stamp.is_none_or(|stamp| stamp.is_settled(reading));
            if !text.is_empty()
                || settled
                || Instant::now() >= until
                // A modification time in the future only means that the clock was set back.
                || stamp.is_some_and(|stamp| stamp.modified_at() > unix(SystemTime::now()))
            {
                return Ok((text, stamp, settled));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Interprets a file that is read for the first time.
    fn open(
        &mut self,
        (found, bound): (Vec<Entry>, Vec<Entry>),
        stamp: Option<Stamp>,
        settled: bool,
    ) -> Result<Known, StoreError> {
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None => Journal::open(&self.paths.journal).map_err(StoreError::unreadable)?,
        };
        let mut known = Known {
            stamp,
            settled,
            placed: None,
            durable: false,
            entries: Arc::default(),
            bound: bound.as_slice().into(),
            revision: 0,
            behind: None,
            unwritten: Vec::new(),
            held: None,
            accounted: None,
            proposed: None,
        };
        match journal.newest() {
            None if self.is_shared => known.hold(found),
            None => {
                let counted = legacy::revision(&self.paths.journal, &join(&found)).map_err(StoreError::unreadable)?;
                // The history is gone with the journal, so the text may have changed since.
                let lost = if self.newest > 0 { self.newest + 1 } else { 0 };
                known.revision = counted.max(journal.revision()).max(lost);
                if !found.is_empty() {
                    known.revision = known.revision.max(1);
                    known.entries = found.into();
                    known.unwritten.push(external(known.revision, &known.entries, &known.entries));
                    if self.was_unreadable {
                        // The file was repaired, which is news. Its mere existence at the first read is not.
                        let (revision, action) = (known.revision, Action::External);
                        self.events.push(Event { revision, action, session: None, agent: None });
                    }
                }
            }
            Some(newest) => {
                known.entries = Arc::clone(&newest.after);
                known.revision = if self.is_shared { newest.revision } else { journal.revision().max(self.newest) };
                // The revisions of a store that was shared until now lack the host-bound entries. Those become a
                // revision.
                let mut of_all = found.clone();
                let mut of_host = bound;
                if !self.is_shared && newest.author.host.is_some() {
                    (of_all, of_host) = part(of_all);
                }
                if *known.entries != *found {
                    let verdict = if *known.entries == *of_all {
                        Verdict::External
                    } else {
                        judge_file(&journal, newest, &of_all, stamp).map_err(StoreError::unreadable)?
                    };
                    match verdict {
                        Verdict::Replay => {
                            (known.bound, known.behind) = (of_host.into(), Some(found.into()));
                        }
                        Verdict::External if self.is_shared => known.hold(found),
                        Verdict::External => self.take_external(&mut known, found),
                    }
                }
            }
        }
        self.journal = Some(journal);
        Ok(known)
    }

    fn take_external(&mut self, known: &mut Known, found: Vec<Entry>) {
        let found: Arc<[Entry]> = found.into();
        known.revision += 1;
        known.unwritten.push(external(known.revision, &known.entries, &found));
        known.entries = found;
        known.behind = None;
        known.durable = false;
        self.events.push(Event { revision: known.revision, action: Action::External, session: None, agent: None });
    }

    /// Handles an edit of the file before the newest revision was put in place. Both changes count.
    fn take_merged(&mut self, known: &mut Known, held: &[Entry], found: Vec<Entry>) {
        let merged = merge(held, &known.entries, &found);
        let found: Arc<[Entry]> = found.into();
        self.take_external(known, merged);
        if known.entries != found {
            // The file is out of date until the merged text replaces it.
            let replaced = known.stamp.map(|stamp| stamp.modified_nanos());
            known.unwritten.last_mut().into_iter().for_each(|row| row.replaced = Replaced::of(replaced));
            known.behind = Some(found);
        }
    }

    /// Replaces an outdated file with the newest revision. The caller must hold the lock. Not every editor takes the
    /// lock, so a change up to the last moment is read first.
    pub(super) fn catch_up(&mut self) -> Result<(), StoreError> {
        for _ in 0..CATCH_UPS {
            let Some(known) = self.known.as_mut().filter(|known| known.behind.is_some()) else { break };
            let text = known.text(known.wanted());
            let staged = file::stage(&self.paths.file, text.as_bytes(), TEMPORARY)?;
            staged.sync()?;
            if Stamp::now(&self.paths.file)? != known.stamp {
                drop(staged);
                self.refresh()?;
                continue;
            }
            let stamp = staged.commit()?.stamp;
            file::sync(&self.paths.file)?;
            tracing::info!("{}: put revision {} in place", self.paths.file.display(), known.revision);
            (known.stamp, known.settled, known.placed, known.behind) = (Some(stamp), false, None, None);
            known.durable = true;
        }
        Ok(())
    }
}

/// Joins shared and host-bound entries in the order of the file.
pub(super) fn all(shared: &[Entry], bound: &[Entry]) -> Vec<Entry> {
    shared.iter().chain(bound).cloned().collect()
}

/// Decides from the journal whether a file that is not at the newest revision is old or edited. Reads only rows since
/// the file was last known to be durable, because no crash undoes older ones.
fn judge_file(journal: &Journal, newest: &Row, entries: &[Entry], stamp: Option<Stamp>) -> Result<Verdict, DiskError> {
    let written = stamp.map(|stamp| Written { nanos: stamp.modified_nanos(), seconds: stamp.modified_at() });
    for mark in journal.marks().rev().take_while(|mark| !mark.settled) {
        let row = journal.row_at(mark)?;
        let is_last = newest.action != Action::External && row.time.total_cmp(&newest.time).is_eq();
        let past =
            Past { is_external: row.action == Action::External, replaced: row.replaced, is_last, time: row.time };
        if judge(written, *row.before == *entries, past) == Verdict::Replay {
            return Ok(Verdict::Replay);
        }
        if past.is_external {
            break;
        }
    }
    Ok(Verdict::External)
}

fn external(revision: u64, before: &Arc<[Entry]>, after: &Arc<[Entry]>) -> Row {
    Row {
        revision,
        time: unix(SystemTime::now()),
        replaced: Replaced::Unknown,
        action: Action::External,
        author: Author::default(),
        before: Arc::clone(before),
        after: Arc::clone(after),
    }
}
