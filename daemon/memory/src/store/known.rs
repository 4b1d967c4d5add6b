//! What a store knows of its file, and what it makes of a file that is another.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use herma_disk::DiskError;
use herma_disk::file::{self, Placed};
use herma_disk::stamp::Stamp;

use super::{Event, FILE_LIMIT, Store, StoreError, TEMPORARY, unix};
use crate::bound::part;
use crate::entries::{Entry, join, parse};
use crate::journal::Journal;
use crate::journal::line::{Action, Author, Replaced, Row};
use crate::legacy;
use crate::recovery::{Past, Verdict, Written, judge, merge};

/// Pause between two looks at a file that is just being written.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a file that is empty is looked at again.
const PATIENCE: Duration = Duration::from_millis(60);

/// How often a file is brought up to date at one time that others change meanwhile.
const CATCH_UPS: usize = 4;

/// What the file held when it was last read or written.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) stamp: Option<Stamp>,
    /// Another write would have left another stamp.
    pub(super) settled: bool,
    /// The file, when it was put in place by this store.
    pub(super) placed: Option<Placed>,
    /// No power cut takes back what is in place, or only to what this store put there before.
    pub(super) durable: bool,
    pub(super) entries: Arc<[Entry]>,
    /// Of a shared store: the entries of the file that never leave this host. No other field has them.
    pub(super) bound: Arc<[Entry]>,
    pub(super) revision: u64,
    /// What the file holds instead, when it is at an older revision and has to be
    /// replaced.
    pub(super) behind: Option<Arc<[Entry]>>,
    /// Changes by others that are not in the journal yet.
    pub(super) unwritten: Vec<Row>,
    /// Of a shared store: what another program made of its entries, which has no revision yet.
    pub(super) held: Option<Arc<[Entry]>>,
    /// Of a shared store: what the file held when all in it had a revision, where that is not `entries`: an edit
    /// got its revision, and the disk has not followed yet.
    pub(super) accounted: Option<Arc<[Entry]>>,
    /// Of a shared store: what was held when a revision was wanted for it. The file may hold something else by
    /// the time that it has one.
    pub(super) proposed: Option<Arc<[Entry]>>,
}

impl Known {
    /// What the file is to hold.
    pub(super) fn wanted(&self) -> &Arc<[Entry]> {
        self.held.as_ref().unwrap_or(self.base())
    }

    /// What an edit of the file is an edit of.
    pub(super) fn base(&self) -> &Arc<[Entry]> {
        self.accounted.as_ref().unwrap_or(&self.entries)
    }

    /// The text of the file with these entries.
    pub(super) fn text(&self, entries: &[Entry]) -> String {
        join(&all(entries, &self.bound))
    }

    /// These entries and those of this host.
    pub(super) fn with_bound(&self, entries: &Arc<[Entry]>) -> Arc<[Entry]> {
        if self.bound.is_empty() { Arc::clone(entries) } else { all(entries, &self.bound).into() }
    }

    /// The file holds the newest revision, and the journal has it.
    pub(super) fn is_clean(&self) -> bool {
        self.behind.is_none() && self.held.is_none() && self.unwritten.is_empty()
    }

    /// Syncs what others wrote, before a row speaks of it: what a power cut takes back behind a row
    /// could not be told from an edit.
    pub(super) fn make_durable(&mut self, file: &Path) -> Result<(), DiskError> {
        if !self.durable {
            file::sync(file)?;
            self.durable = true;
        }
        Ok(())
    }
}

impl Store {
    /// Reads what is new, and makes a revision of what others wrote.
    pub(super) fn refresh(&mut self) -> Result<(), StoreError> {
        let now = Stamp::now(&self.paths.file).map_err(StoreError::unreadable)?;
        let is_same =
            |known: &Known| known.stamp == now && (known.settled || known.placed.as_ref().is_some_and(Placed::is_held));
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
                // As with what is shared: that the file is gone is nobody's wish.
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
            // Whoever only reads needs no disk that can be written.
            known.unwritten.clear();
        }
        Ok(())
    }

    /// The file's text and stamp, and whether another write would have left another
    /// stamp. One that has just become empty is read again until it stays so: an
    /// editor that writes in place cuts it first.
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
                // A clock that was set back says nothing; that the file changed while it was read, does.
                || stamp.is_some_and(|stamp| stamp.modified_at() > unix(SystemTime::now()))
            {
                return Ok((text, stamp, settled));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// What a file means that is seen for the first time.
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
                // A journal that is gone took the past with it, so nobody can say that the
                // text is still the same.
                let lost = if self.newest > 0 { self.newest + 1 } else { 0 };
                known.revision = counted.max(journal.revision()).max(lost);
                if !found.is_empty() {
                    known.revision = known.revision.max(1);
                    known.entries = found.into();
                    known.unwritten.push(external(known.revision, &known.entries, &known.entries));
                    if self.was_unreadable {
                        // Somebody mended it, which is news; that it was there first is not.
                        let (revision, action) = (known.revision, Action::External);
                        self.events.push(Event { revision, action, session: None });
                    }
                }
            }
            Some(newest) => {
                known.entries = Arc::clone(&newest.after);
                known.revision = if self.is_shared { newest.revision } else { journal.revision().max(self.newest) };
                // Where it was shared until now its revisions say nothing of the entries of this host, which become one.
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
        self.events.push(Event { revision: known.revision, action: Action::External, session: None });
    }

    /// Somebody changed the file before the newest revision could be put in its place:
    /// both changes count.
    fn take_merged(&mut self, known: &mut Known, held: &[Entry], found: Vec<Entry>) {
        let merged = merge(held, &known.entries, &found);
        let found: Arc<[Entry]> = found.into();
        self.take_external(known, merged);
        if known.entries != found {
            // The file that is there is behind its own revision until the merged text is put in its place.
            let replaced = known.stamp.map(|stamp| stamp.modified_nanos());
            known.unwritten.last_mut().into_iter().for_each(|row| row.replaced = Replaced::of(replaced));
            known.behind = Some(found);
        }
    }

    /// Puts the newest revision in the place of a file that is behind it. The lock must be
    /// held. Not every editor takes it: what changed the file until the last moment is read
    /// first.
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
            let stamp = staged.put_in_place()?.stamp;
            file::sync(&self.paths.file)?;
            tracing::info!("{}: put revision {} in place", self.paths.file.display(), known.revision);
            (known.stamp, known.settled, known.placed, known.behind) = (Some(stamp), false, None, None);
            known.durable = true;
        }
        Ok(())
    }
}

/// Shared entries and those of this host, as they stand in the file.
pub(super) fn all(shared: &[Entry], bound: &[Entry]) -> Vec<Entry> {
    shared.iter().chain(bound).cloned().collect()
}

/// Asks the journal what a file is that is not at the newest revision. Only what came after the file
/// was known to be durable is asked, for no crash takes the file further back.
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
