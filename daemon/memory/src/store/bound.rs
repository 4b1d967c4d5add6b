//! Changes to the host-bound entries of a shared store. They get no revision and need no database.

use std::sync::Arc;

use herma_disk::file;
use herma_disk::stamp::Stamp;

use super::draft::{Draft, Edit, EditError};
use super::{Event, Store, StoreError, TEMPORARY, View};
use crate::bound::is_bound;
use crate::change::{Applied, Change, Done};
use crate::entries::{Entry, normalised};
use crate::journal::line::Author;
use crate::refusal::Refusal;

/// The result of an edit that may be host-bound.
#[derive(Debug)]
pub enum Bound {
    /// The edit affects shared entries. It was not applied.
    Shared,
    /// Another program holds the lock, or is writing the file. The edit was not applied.
    Busy,
    /// The caller no longer wants the edit. It was not applied.
    Unwanted,
    /// The edit is host-bound. Has its result, which is on disk, and the store after it.
    Done(Box<(Result<Applied, Refusal>, View)>),
}

/// The result of a trial run of an edit.
enum TrialOutcome {
    /// The edit affects shared entries.
    Shared,
    /// The edit changes nothing.
    Nothing(Result<Applied, Refusal>),
    /// The edit leaves these host-bound entries.
    Bound(Arc<[Entry]>, Applied),
}

fn adds_bound(change: &Change) -> bool {
    matches!(change, Change::Add { content } if is_bound(&normalised(content)))
}

fn is_of_bound(done: &Done) -> bool {
    matches!(done, Done::Replaced(entry) | Done::Removed(entry) if is_bound(entry))
}

impl Edit {
    fn changes(&self) -> &[Change] {
        match self {
            Self::Change { changes, .. } => changes.list(),
            Self::Undo | Self::Restore(_) | Self::Revert(_) => &[],
        }
    }

    /// Whether the edit adds a host-bound entry.
    #[must_use]
    pub fn adds_bound(&self) -> bool {
        self.changes().iter().any(adds_bound)
    }

    /// Whether the edit only adds host-bound entries.
    fn only_adds_bound(&self) -> bool {
        !self.changes().is_empty() && self.changes().iter().all(adds_bound)
    }
}

impl Store {
    /// Whether the store is shared and has host-bound entries. True until the first read.
    #[must_use]
    pub fn may_have_bound(&self) -> bool {
        self.is_shared && self.known.as_ref().is_none_or(|known| !known.bound.is_empty())
    }

    /// Applies an edit that changes only host-bound entries. Does not apply an edit of shared entries, or one that
    /// expects another revision. Refuses an edit of both kinds of entries. Calls `is_wanted` right before it writes.
    ///
    /// # Errors
    /// The file can't be read or written. The store is then read again before its next use.
    pub fn write_bound(
        &mut self,
        edit: &Edit,
        author: &Author,
        expected_revision: Option<u64>,
        is_wanted: impl FnOnce() -> bool,
    ) -> Result<Bound, StoreError> {
        self.refresh()?;
        if !self.is_shared || !(edit.adds_bound() || self.may_have_bound()) {
            return Ok(Bound::Shared);
        }
        // Most edits affect shared entries and need not wait for the lock and the disk.
        if matches!(self.try_bound(edit, author, expected_revision)?, TrialOutcome::Shared) {
            return Ok(Bound::Shared);
        }
        let Some(_lock) = self.locked()? else { return Ok(Bound::Busy) };
        self.settle_locked()?;
        let (bound, applied) = match self.try_bound(edit, author, expected_revision)? {
            TrialOutcome::Shared => return Ok(Bound::Shared),
            TrialOutcome::Nothing(applied) => return Ok(self.done(applied)),
            TrialOutcome::Bound(bound, applied) => (bound, applied),
        };
        if !is_wanted() {
            return Ok(Bound::Unwanted);
        }
        let placed = self.place_bound(bound);
        if placed.is_err() {
            self.forget();
        }
        if !placed? {
            return Ok(Bound::Busy);
        }
        let (revision, _) = self.newest();
        let (session, agent) = (author.session.clone(), author.agent.clone());
        self.events.push(Event { revision, action: edit.action(), session, agent });
        Ok(self.done(Ok(applied)))
    }

    /// Runs an edit without applying it.
    fn try_bound(
        &self,
        edit: &Edit,
        author: &Author,
        expected_revision: Option<u64>,
    ) -> Result<TrialOutcome, StoreError> {
        let (Some(known), (revision, entries)) = (&self.known, self.newest()) else { return Ok(TrialOutcome::Shared) };
        if expected_revision.is_some_and(|expected| expected != revision) {
            return Ok(TrialOutcome::Shared);
        }
        let mut draft = Draft { entries: known.on_top_of(&entries), revision, ..Draft::on(self) };
        Ok(match draft.apply(self, edit, author) {
            Ok(_) if !draft.rows.is_empty() => TrialOutcome::Shared,
            Ok(applied) if draft.bound != known.bound => TrialOutcome::Bound(draft.bound, applied),
            // The entry exists already, or keeps its text.
            Ok(applied) if edit.only_adds_bound() || is_of_bound(&applied.done) => TrialOutcome::Nothing(Ok(applied)),
            Err(EditError::Refused(refusal)) if edit.only_adds_bound() || *refusal.root() == Refusal::Mixed => {
                TrialOutcome::Nothing(Err(refusal))
            }
            Err(EditError::Store(error)) => return Err(error),
            Ok(_) | Err(_) => TrialOutcome::Shared,
        })
    }

    fn done(&mut self, applied: Result<Applied, Refusal>) -> Bound {
        Bound::Done(Box::new((applied, self.current())))
    }

    /// Writes the file with these host-bound entries. Returns false if another program changed the file meanwhile.
    fn place_bound(&mut self, bound: Arc<[Entry]>) -> Result<bool, StoreError> {
        let Some(known) = &mut self.known else { return Ok(false) };
        let before = std::mem::replace(&mut known.bound, bound);
        let text = known.text(known.wanted());
        let staged = file::stage(&self.paths.file, text.as_bytes(), TEMPORARY)?;
        staged.sync()?;
        if Stamp::now(&self.paths.file)? != known.stamp {
            known.bound = before;
            return Ok(false);
        }
        let placed = staged.commit()?;
        file::sync(&self.paths.file)?;
        (known.stamp, known.settled, known.durable) = (Some(placed.stamp), false, true);
        self.replaced.extend(known.placed.replace(placed));
        Ok(true)
    }
}
