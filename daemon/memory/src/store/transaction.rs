//! A locked store, the changes that were asked for, and the way to the disk.

use std::sync::Arc;
use std::time::SystemTime;

use herma_disk::file;
use herma_disk::lock::Locked;

use super::draft::{Denied, Draft, Edit};
use super::{Event, Known, Store, StoreError, TEMPORARY, View, unix};
use crate::change::Applied;
use crate::entries::join;
use crate::journal::Journal;
use crate::journal::line::{Author, Replaced};

/// A locked store and what the changes so far made of it. Dropped without
/// [`Transaction::commit`], nothing happened.
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

    /// What the store holds, with the changes so far.
    pub fn view(&mut self) -> View {
        self.draft.view(self.store)
    }

    /// The revision, with the changes so far.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.draft.revision
    }

    /// Applies an edit, or says why not. Nothing is on disk yet.
    ///
    /// # Errors
    /// Why it is denied; a refusal for a drifted store names the copy that was made
    /// of it.
    pub fn apply(&mut self, edit: &Edit, author: &Author) -> Result<Applied, Denied> {
        self.draft.apply(self.store, edit, author)
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
        if self.draft.rows.is_empty() && known.unwritten.is_empty() {
            self.store.known = Some(known);
            return Ok(());
        }
        if !known.unwritten.is_empty() {
            // It was told, and must not be given again if it can't be kept now.
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
            if self.store.journal.as_ref().is_some_and(Journal::is_taken_back) {
                self.store.journal = None;
            }
        }
        committed
    }

    fn write(&mut self, mut known: Known) -> Result<(), StoreError> {
        let Some(journal) = &mut self.store.journal else { return Ok(()) };
        known.make_durable(&self.store.paths.file)?;
        let events = self.draft.rows.iter().map(|row| Event {
            revision: row.revision,
            action: row.action.clone(),
            session: row.author.session.clone(),
        });
        let events: Vec<Event> = events.collect();
        let rows = known.unwritten.into_iter().chain(self.draft.rows.drain(..)).collect();
        let text = join(&self.draft.entries);
        // Changes that cancel out leave the file as it was.
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
