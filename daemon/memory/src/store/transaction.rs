//! A locked store with its requested changes, and their commit to disk.

use std::sync::Arc;
use std::time::SystemTime;

use herma_disk::file;
use herma_disk::lock::Locked;

use super::draft::{Draft, Edit, EditError};
use super::{Event, Known, Store, StoreError, TEMPORARY, View, unix};
use crate::change::Applied;
use crate::entries::join;
use crate::journal::Journal;
use crate::journal::line::{Author, Replaced};

/// A locked store with the changes so far. Dropping it without [`Transaction::commit`] discards them.
#[derive(Debug)]
pub struct Transaction<'a> {
    store: &'a mut Store,
    _lock: Locked,
    draft: Draft,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(store: &'a mut Store, lock: Locked) -> Self {
        let draft = Draft::on(store);
        Self { store, _lock: lock, draft }
    }

    /// Returns the store's content with the changes so far.
    pub fn view(&mut self) -> View {
        self.draft.view(self.store)
    }

    /// Returns the revision with the changes so far.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.draft.revision
    }

    /// Applies an edit in memory. Nothing is on disk yet.
    ///
    /// # Errors
    /// The reason why the edit is denied. A refusal for a drifted store names the backup.
    pub fn apply(&mut self, edit: &Edit, author: &Author) -> Result<Applied, EditError> {
        self.draft.apply(self.store, edit, author)
    }

    /// Makes the changes durable: the journal first, then the file. Their syncs run in parallel. After an error the
    /// store is read again before its next use.
    ///
    /// # Errors
    /// A write or sync failed. The file then has its old content, and the journal has no rows of the changes.
    pub fn commit(mut self) -> Result<(), StoreError> {
        let Some(known) = self.store.known.take() else { return Ok(()) };
        if self.draft.rows.is_empty() && known.unwritten.is_empty() {
            self.store.known = Some(known);
            return Ok(());
        }
        if !known.unwritten.is_empty() {
            // A client may have seen this revision, so it must not be assigned again if this commit fails.
            self.store.newest = self.store.newest.max(known.revision);
        }
        let now = unix(SystemTime::now());
        let replaced = Replaced::of(known.stamp.map(|stamp| stamp.modified_nanos()));
        for row in &mut self.draft.rows {
            (row.time, row.replaced) = (now, replaced);
        }
        let committed = self.write(known);
        if committed.is_err() {
            self.store.known = None;
            if self.store.journal.as_ref().is_some_and(Journal::has_no_remains) {
                self.store.journal = None;
            }
        }
        committed
    }

    fn write(&mut self, mut known: Known) -> Result<(), StoreError> {
        let Some(journal) = &mut self.store.journal else { return Ok(()) };
        known.make_durable(&self.store.paths.file)?;
        let events: Vec<Event> = self.draft.rows.iter().map(Event::of).collect();
        let rows = known.unwritten.into_iter().chain(self.draft.rows.drain(..)).collect();
        let text = join(&self.draft.entries);
        // Changes that cancel each other leave the file as it was.
        let staged = if known.entries == self.draft.entries {
            None
        } else {
            Some(file::stage(&self.store.paths.file, text.as_bytes(), TEMPORARY)?)
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
            entries: Arc::clone(&self.draft.entries),
            bound: known.bound,
            revision: self.draft.revision,
            behind: None,
            unwritten: Vec::new(),
            held: None,
            accounted: None,
            proposed: None,
        });
        self.store.events.extend(events);
        Ok(())
    }
}
