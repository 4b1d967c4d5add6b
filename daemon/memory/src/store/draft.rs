//! The requested changes on top of a store's content.

use std::sync::Arc;

use herma_disk::DiskError;

use super::backup::back_up;
use super::known::all;
use super::{Store, StoreError, View};
use crate::bound::part;
use crate::change::{self, Applied, Change, Changes, Done, Drift, Rules, check_fits};
use crate::entries::Entry;
use crate::journal::Journal;
use crate::journal::line::{Action, Author, Replaced, Row};
use crate::refusal::Refusal;
use crate::revert::reverted;

/// An edit of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Change its entries.
    Change {
        /// The changes.
        changes: Changes,
        /// Whether a drifted store stops them.
        drift: Drift,
    },
    /// Restore the text before the newest revision.
    Undo,
    /// Restore the text of this revision.
    Restore(u64),
    /// Revert the change of this revision, and keep the later ones.
    Revert(u64),
}

impl Edit {
    pub(super) fn action(&self) -> Action {
        match self {
            Self::Change { changes: Changes::Single(Change::Add { .. }), .. } => Action::Add,
            Self::Change { changes: Changes::Single(Change::Replace { .. }), .. } => Action::Replace,
            Self::Change { changes: Changes::Single(Change::Remove { .. }), .. } => Action::Remove,
            Self::Change { changes: Changes::Batch { .. }, .. } => Action::Batch,
            Self::Undo => Action::Undo,
            Self::Restore(_) => Action::Restore,
            Self::Revert(_) => Action::Revert,
        }
    }
}

/// The reason why an edit was not applied.
#[derive(Debug)]
pub enum EditError {
    /// The edit is refused.
    Refused(Refusal),
    /// The journal does not have that revision.
    NotKept {
        /// The requested revision.
        revision: u64,
        /// The oldest and the newest revision whose text is kept.
        kept: Option<(u64, u64)>,
    },
    /// The edit affects only host-bound entries, which [`Store::write_bound`] changes.
    Bound,
    /// The journal can't be read.
    Store(StoreError),
}

impl From<Refusal> for EditError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A store's content with the changes so far, not yet on disk.
#[derive(Debug)]
pub(super) struct Draft {
    /// The entries. Of a shared store, only those that all hosts have.
    pub(super) entries: Arc<[Entry]>,
    /// Of a shared store, the host-bound entries.
    pub(super) bound: Arc<[Entry]>,
    /// Their revision.
    pub(super) revision: u64,
    /// Revisions that the journal does not have yet.
    pub(super) rows: Vec<Row>,
}

impl Draft {
    /// Starts a draft from a store's content.
    pub(super) fn on(store: &Store) -> Self {
        match &store.known {
            Some(known) => Self {
                entries: Arc::clone(&known.entries),
                bound: Arc::clone(&known.bound),
                revision: known.revision,
                rows: Vec::new(),
            },
            None => Self { entries: Arc::default(), bound: Arc::default(), revision: 0, rows: Vec::new() },
        }
    }

    /// Returns all entries of the store with the changes.
    fn all(&self) -> Arc<[Entry]> {
        if self.bound.is_empty() { Arc::clone(&self.entries) } else { all(&self.entries, &self.bound).into() }
    }

    /// Returns the store's content with the changes.
    pub(super) fn view(&self, store: &mut Store) -> View {
        let entries = self.all();
        View {
            target: store.target,
            limit: store.limits.chars,
            shown: store.shown(&entries),
            entries,
            revision: self.revision,
            damaged: store.journal.as_ref().map_or(0, Journal::damaged),
        }
    }

    /// Applies an edit, or returns why it is denied.
    pub(super) fn apply(&mut self, store: &Store, edit: &Edit, author: &Author) -> Result<Applied, EditError> {
        let mut applied = match edit {
            Edit::Change { changes, drift } => self.change(store, changes, *drift)?,
            Edit::Undo => self.undone(store)?,
            Edit::Restore(revision) => self.restored(store, *revision)?,
            Edit::Revert(revision) => self.reverted(store, *revision)?,
        };
        match store.is_shared {
            true => self.add_parts(&mut applied, edit.action(), author)?,
            false if *applied.entries != *self.entries => {
                self.add(edit.action(), author.clone(), applied.entries.as_slice().into());
            }
            false => {}
        }
        Ok(applied)
    }

    /// Splits the result of an edit of a shared store: a revision for all hosts, or new host-bound entries.
    fn add_parts(&mut self, applied: &mut Applied, action: Action, author: &Author) -> Result<(), Refusal> {
        let entries = std::mem::take(&mut applied.entries);
        let (entries, bound) = match applied.done {
            // Only shared entries have revisions, so only they are restored.
            Done::PutBack(_) | Done::Reverted(_) => (entries, self.bound.to_vec()),
            _ => part(entries),
        };
        match (*entries != *self.entries, *bound != *self.bound) {
            (true, true) => return Err(Refusal::Mixed),
            (true, false) => self.add(action, author.clone(), entries.into()),
            (false, true) => self.bound = bound.into(),
            (false, false) => {}
        }
        applied.entries = self.all().to_vec();
        Ok(())
    }

    /// Adds a revision.
    pub(super) fn add(&mut self, action: Action, author: Author, after: Arc<[Entry]>) {
        self.revision += 1;
        self.rows.push(Row {
            revision: self.revision,
            time: 0.0,
            replaced: Replaced::Unknown,
            action,
            author,
            before: std::mem::replace(&mut self.entries, Arc::clone(&after)),
            after,
        });
    }

    fn change(&self, store: &Store, changes: &Changes, drift: Drift) -> Result<Applied, Refusal> {
        let Store { target, limits, policy, .. } = store;
        let rules = Rules { target: *target, limit: limits.chars, drift, policy };
        let entries = self.all();
        let longest = change::longest(&entries);
        let drifted =
            |backup| Refusal::Drift { target: rules.target, longest, limit: rules.limit, backup: Some(backup) };
        let back_up = || back_up(&store.paths, rules.target).map_err(|error| error.to_string());
        let applied = change::apply(&entries, changes, rules).map_err(|refusal| match refusal {
            Refusal::Drift { .. } => drifted(back_up()),
            other => other,
        })?;
        if longest > rules.limit
            && *applied.entries != *entries
            && let Err(reason) = back_up()
        {
            return Err(drifted(Err(reason)));
        }
        Ok(applied)
    }

    fn undone(&self, store: &Store) -> Result<Applied, EditError> {
        let unwritten = store.known.iter().flat_map(|known| &known.unwritten);
        let newest = self.rows.last().or(store.ahead.last()).or(unwritten.last());
        let newest = newest.or_else(|| store.journal.as_ref().and_then(Journal::newest));
        match newest.filter(|row| row.before != row.after) {
            Some(row) => Ok(put_back(&row.before, row.revision.saturating_sub(1))),
            None => Err(Refusal::NothingToUndo { target: store.target }.into()),
        }
    }

    fn restored(&self, store: &Store, revision: u64) -> Result<Applied, EditError> {
        if let Some(row) = self.unwritten(store, revision) {
            return Ok(put_back(&row.after, revision));
        }
        let journal = store.journal.as_ref();
        let entries = journal.map(|journal| journal.entries_at(revision)).transpose();
        match entries.map_err(unreadable)?.flatten() {
            Some(entries) => Ok(put_back(&entries, revision)),
            None => Err(EditError::NotKept { revision, kept: journal.and_then(Journal::kept) }),
        }
    }

    /// Returns the change that made a revision, if the journal does not have it yet.
    fn unwritten<'a>(&'a self, store: &'a Store, revision: u64) -> Option<&'a Row> {
        let unwritten = store.known.iter().flat_map(|known| &known.unwritten);
        self.rows.iter().chain(&store.ahead).chain(unwritten).find(|row| row.revision == revision)
    }

    fn reverted(&self, store: &Store, revision: u64) -> Result<Applied, EditError> {
        let unwritten = store.known.iter().flat_map(|known| &known.unwritten);
        let recent =
            self.rows.iter().chain(&store.ahead).chain(unwritten).find(|row| row.revision == revision).cloned();
        let journal = store.journal.as_ref();
        let row = match recent {
            Some(row) => Some(row),
            None => journal.map(|journal| journal.row_of(revision)).transpose().map_err(unreadable)?.flatten(),
        };
        let Some(row) = row else {
            // The journal has the text before its oldest change, but not the change that made it.
            let kept = journal.and_then(Journal::kept).map(|(oldest, newest)| (oldest.saturating_add(1), newest));
            return Err(EditError::NotKept { revision, kept });
        };
        let entries = reverted(&self.entries, &row.before, &row.after)
            .map_err(|entry| Refusal::changed_later(&store.policy, store.target, revision, &entry))?;
        check_fits(&self.all(), &all(&entries, &self.bound), store.target, store.limits.chars)?;
        Ok(Applied { entries, done: Done::Reverted(revision), warnings: Vec::new() })
    }
}

fn unreadable(error: DiskError) -> EditError {
    EditError::Store(StoreError::unreadable(error))
}

fn put_back(entries: &[Entry], revision: u64) -> Applied {
    Applied { entries: entries.to_vec(), done: Done::PutBack(revision), warnings: Vec::new() }
}
