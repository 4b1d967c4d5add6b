//! A locked store, the changes that were asked for, and the way to the disk.

use std::sync::Arc;
use std::time::SystemTime;

use herma_disk::file;
use herma_disk::lock::Locked;

use super::backup::back_up;
use super::{Event, Known, Store, StoreError, TEMPORARY, View, unix};
use crate::change::{self, Applied, Change, Changes, Done, Drift, Rules};
use crate::entries::{Entry, join};
use crate::journal::Journal;
use crate::journal::line::{Action, Author, Replaced, Row};
use crate::refusal::Refusal;

/// What is to be done with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Change its entries.
    Change {
        /// How.
        changes: Changes,
        /// What a drifted store means.
        drift: Drift,
    },
    /// Put the text before the newest revision back.
    Undo,
    /// Put the text of this revision back.
    Restore(u64),
}

impl Edit {
    fn action(&self) -> Action {
        match self {
            Self::Change { changes: Changes::Single(Change::Add { .. }), .. } => Action::Add,
            Self::Change { changes: Changes::Single(Change::Replace { .. }), .. } => Action::Replace,
            Self::Change { changes: Changes::Single(Change::Remove { .. }), .. } => Action::Remove,
            Self::Change { changes: Changes::Batch { .. }, .. } => Action::Batch,
            Self::Undo => Action::Undo,
            Self::Restore(_) => Action::Restore,
        }
    }
}

/// Why an edit was not applied.
#[derive(Debug)]
pub enum Denied {
    /// It may not be.
    Refused(Refusal),
    /// That revision is not in the journal.
    NotKept {
        /// The one that was asked for.
        revision: u64,
        /// The oldest and the newest one whose text is kept.
        kept: Option<(u64, u64)>,
    },
    /// The journal can't be read.
    Store(StoreError),
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A locked store and what the changes so far made of it. Dropped without
/// [`Transaction::commit`], nothing happened.
#[derive(Debug)]
pub struct Transaction<'a> {
    store: &'a mut Store,
    _lock: Locked,
    entries: Arc<[Entry]>,
    revision: u64,
    rows: Vec<Row>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(store: &'a mut Store, lock: Locked) -> Self {
        let (entries, revision) = match &store.known {
            Some(known) => (Arc::clone(&known.entries), known.revision),
            None => (Arc::default(), 0),
        };
        Self { store, _lock: lock, entries, revision, rows: Vec::new() }
    }

    /// What the store holds, with the changes so far.
    pub fn view(&mut self) -> View {
        View {
            target: self.store.target,
            limit: self.store.limits.chars,
            entries: Arc::clone(&self.entries),
            shown: self.store.shown(&self.entries),
            revision: self.revision,
            damaged: self.store.journal.as_ref().map_or(0, Journal::damaged),
        }
    }

    /// The revision, with the changes so far.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Applies an edit, or says why not. Nothing is on disk yet.
    ///
    /// # Errors
    /// Why it is denied; a refusal for a drifted store names the copy that was made
    /// of it.
    pub fn apply(&mut self, edit: &Edit, author: &Author) -> Result<Applied, Denied> {
        let applied = match edit {
            Edit::Change { changes, drift } => self.change(changes, *drift)?,
            Edit::Undo => self.undone()?,
            Edit::Restore(revision) => self.restored(*revision)?,
        };
        if *applied.entries != *self.entries {
            self.revision += 1;
            let after: Arc<[Entry]> = applied.entries.as_slice().into();
            self.rows.push(Row {
                revision: self.revision,
                time: 0.0,
                replaced: Replaced::Unknown,
                action: edit.action(),
                author: author.clone(),
                before: std::mem::replace(&mut self.entries, Arc::clone(&after)),
                after,
            });
        }
        Ok(applied)
    }

    fn change(&self, changes: &Changes, drift: Drift) -> Result<Applied, Refusal> {
        let Store { target, limits, policy, .. } = &*self.store;
        let rules = Rules { target: *target, limit: limits.chars, drift, policy };
        let longest = change::longest(&self.entries);
        let drifted =
            |backup| Refusal::Drift { target: rules.target, longest, limit: rules.limit, backup: Some(backup) };
        let back_up = || back_up(&self.store.paths, rules.target).map_err(|error| error.to_string());
        let applied = change::apply(&self.entries, changes, rules).map_err(|refusal| match refusal {
            Refusal::Drift { .. } => drifted(back_up()),
            other => other,
        })?;
        if longest > rules.limit
            && *applied.entries != *self.entries
            && let Err(reason) = back_up()
        {
            return Err(drifted(Err(reason)));
        }
        Ok(applied)
    }

    fn undone(&self) -> Result<Applied, Denied> {
        let unwritten = self.store.known.iter().flat_map(|known| &known.unwritten);
        let newest = self.rows.last().or(unwritten.last());
        let newest = newest.or_else(|| self.store.journal.as_ref().and_then(Journal::newest));
        match newest.filter(|row| row.before != row.after) {
            Some(row) => Ok(put_back(&row.before, row.revision.saturating_sub(1))),
            None => Err(Refusal::NothingToUndo { target: self.store.target }.into()),
        }
    }

    fn restored(&self, revision: u64) -> Result<Applied, Denied> {
        let unwritten = self.store.known.iter().flat_map(|known| &known.unwritten);
        if let Some(row) = self.rows.iter().chain(unwritten).find(|row| row.revision == revision) {
            return Ok(put_back(&row.after, revision));
        }
        let journal = self.store.journal.as_ref();
        let entries = journal.map(|journal| journal.entries_at(revision)).transpose();
        match entries.map_err(|error| Denied::Store(StoreError::unreadable(error)))?.flatten() {
            Some(entries) => Ok(put_back(&entries, revision)),
            None => Err(Denied::NotKept { revision, kept: journal.and_then(Journal::kept) }),
        }
    }

    /// Makes the changes durable: first the journal, then the file, their syncs side
    /// by side. After an error the store is read again before anything else is done
    /// with it.
    ///
    /// # Errors
    /// A write or sync that failed; then the file has its old content, and the journal
    /// says nothing of the changes.
    pub fn commit(mut self) -> Result<(), StoreError> {
        let Some(known) = self.store.known.take() else { return Ok(()) };
        if self.rows.is_empty() && known.unwritten.is_empty() {
            self.store.known = Some(known);
            return Ok(());
        }
        if !known.unwritten.is_empty() {
            // It was told, and must not be given again if it can't be kept now.
            self.store.newest = self.store.newest.max(known.revision);
        }
        let now = unix(SystemTime::now());
        let replaced = Replaced::of(known.stamp.map(|stamp| stamp.modified_nanos()));
        for row in &mut self.rows {
            (row.time, row.replaced) = (now, replaced);
        }
        let committed = self.write(known);
        if committed.is_err() {
            self.store.known = None;
            if self.store.journal.as_ref().is_some_and(Journal::is_taken_back) {
                self.store.journal = None;
            }
        }
        committed
    }

    fn write(&mut self, mut known: Known) -> Result<(), StoreError> {
        let Some(journal) = &mut self.store.journal else { return Ok(()) };
        known.make_durable(&self.store.paths.file)?;
        let events = self.rows.iter().map(|row| Event {
            revision: row.revision,
            action: row.action.clone(),
            session: row.author.session.clone(),
        });
        let events: Vec<Event> = events.collect();
        let rows = known.unwritten.into_iter().chain(self.rows.drain(..)).collect();
        let text = join(&self.entries);
        // Changes that cancel out leave the file as it was.
        let staged = match known.entries == self.entries {
            true => None,
            false => Some(file::stage(&self.store.paths.file, text.as_bytes(), TEMPORARY)?),
        };
        let placed = journal.commit(rows, staged)?;
        let stamp = placed.as_ref().map(|placed| placed.stamp).or(known.stamp);
        let settled = placed.is_none() && known.settled;
        let placed = match placed {
            Some(placed) => {
                self.store.replaced.extend(known.placed);
                Some(placed)
            }
            None => known.placed,
        };
        self.store.known = Some(Known {
            stamp,
            settled,
            placed,
            durable: true,
            entries: Arc::clone(&self.entries),
            revision: self.revision,
            behind: None,
            unwritten: Vec::new(),
        });
        self.store.events.extend(events);
        Ok(())
    }
}

fn put_back(entries: &[Entry], revision: u64) -> Applied {
    Applied { entries: entries.to_vec(), done: Done::PutBack(revision), warnings: Vec::new() }
}
