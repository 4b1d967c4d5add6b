//! Changes of a shared store that are of this host only: they get no revision, and no database is asked.

use std::sync::Arc;

use herma_disk::file;
use herma_disk::stamp::Stamp;

use super::draft::{Denied, Draft, Edit};
use super::{Event, Store, StoreError, TEMPORARY, View};
use crate::bound::is_bound;
use crate::change::{Applied, Change, Done};
use crate::entries::{Entry, normalised};
use crate::journal::line::Author;
use crate::refusal::Refusal;

/// What became of an edit that may be of this host only.
#[derive(Debug)]
pub enum Bound {
    /// It is of what all hosts share: nothing was done.
    Shared,
    /// Another program holds the lock, or writes just now: nothing was done.
    Busy,
    /// Nobody wants it any more: nothing was done.
    Unwanted,
    /// It is of this host: what it came to is on the disk, with the store after it.
    Done(Box<(Result<Applied, Refusal>, View)>),
}

/// What an edit would come to.
enum Tried {
    /// It is of what all hosts share.
    Shared,
    /// Nothing changes.
    Nothing(Result<Applied, Refusal>),
    /// These entries of the host.
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
            Self::Undo | Self::Restore(_) => &[],
        }
    }

    /// Whether it makes an entry of this host out of nothing.
    #[must_use]
    pub fn adds_bound(&self) -> bool {
        self.changes().iter().any(adds_bound)
    }

    /// Whether it does nothing else.
    fn only_adds_bound(&self) -> bool {
        !self.changes().is_empty() && self.changes().iter().all(adds_bound)
    }
}

impl Store {
    /// Whether it is shared and has entries that never leave this host; true until it was read.
    #[must_use]
    pub fn may_have_bound(&self) -> bool {
        self.is_shared && self.known.as_ref().is_none_or(|known| !known.bound.is_empty())
    }

    /// Does an edit that only changes entries of this host; one of what is shared is left alone, and one of both
    /// refused. So is left alone one that expects another revision. `is_wanted` is asked right before it is done.
    ///
    /// # Errors
    /// A file that can't be read or written; the store is read again then before anything else.
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
        // Most changes are of what is shared, and wait for no lock and no disk.
        if matches!(self.try_bound(edit, author, expected_revision)?, Tried::Shared) {
            return Ok(Bound::Shared);
        }
        let Some(_lock) = self.locked()? else { return Ok(Bound::Busy) };
        self.settle_locked()?;
        let (bound, applied) = match self.try_bound(edit, author, expected_revision)? {
            Tried::Shared => return Ok(Bound::Shared),
            Tried::Nothing(applied) => return Ok(self.done(applied)),
            Tried::Bound(bound, applied) => (bound, applied),
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
        let (action, session) = (edit.action(), author.session.clone());
        let (revision, _) = self.newest();
        self.events.push(Event { revision, action, session });
        Ok(self.done(Ok(applied)))
    }

    /// What an edit would come to.
    fn try_bound(&self, edit: &Edit, author: &Author, expected_revision: Option<u64>) -> Result<Tried, StoreError> {
        let (Some(known), (revision, entries)) = (&self.known, self.newest()) else { return Ok(Tried::Shared) };
        if expected_revision.is_some_and(|expected| expected != revision) {
            return Ok(Tried::Shared);
        }
        let mut draft = Draft { entries: known.on_top_of(&entries), revision, ..Draft::on(self) };
        Ok(match draft.apply(self, edit, author) {
            Ok(_) if !draft.rows.is_empty() => Tried::Shared,
            Ok(applied) if draft.bound != known.bound => Tried::Bound(draft.bound, applied),
            // It is there already, or becomes what it was.
            Ok(applied) if edit.only_adds_bound() || is_of_bound(&applied.done) => Tried::Nothing(Ok(applied)),
            Err(Denied::Refused(refusal)) if edit.only_adds_bound() || *refusal.root() == Refusal::Mixed => {
                Tried::Nothing(Err(refusal))
            }
            Err(Denied::Store(error)) => return Err(error),
            Ok(_) | Err(_) => Tried::Shared,
        })
    }

    fn done(&mut self, applied: Result<Applied, Refusal>) -> Bound {
        Bound::Done(Box::new((applied, self.current())))
    }

    /// Writes the file with these entries of this host. False when somebody changed it meanwhile.
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
        let placed = staged.put_in_place()?;
        file::sync(&self.paths.file)?;
        (known.stamp, known.settled, known.durable) = (Some(placed.stamp), false, true);
        self.replaced.extend(known.placed.replace(placed));
        Ok(true)
    }
}
