//! A store that several hosts share: a database assigns its revisions, and the file and the journal here are copies.
//!
//! The store holds an edit by another program until the edit has a revision, and applies it on top of newer revisions.
//! [`Store::propose`] puts it first among the changes that need a revision. [`Store::adopt`] accepts assigned
//! revisions. [`Store::settle`] writes them to disk. Nobody has to wait for that, because they are durable in the
//! database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use herma_disk::file;

use super::draft::{Draft, Edit, EditError};
use super::known::{Known, all};
use super::{Event, Store, StoreError, TEMPORARY, View};
use crate::bound::part;
use crate::change::Applied;
use crate::entries::{Entry, join};
use crate::journal::line::{Action, Author, Replaced, Row, write_row};
use crate::journal::{self, Journal};
use crate::recovery::merge;

/// A modification time that no file has.
const NEVER: i64 = i64::MIN;

impl Known {
    /// Applies the held edit to newer entries.
    pub(super) fn on_top_of(&self, now: &Arc<[Entry]>) -> Arc<[Entry]> {
        match &self.held {
            None => Arc::clone(now),
            Some(held) => rebase(now, self.base(), held).into(),
        }
    }

    /// Handles a newly assigned revision. If it is that of an edit of this file, only what the file has beyond that
    /// edit stays held.
    fn account(&mut self, row: &Row) {
        let is_of = |edited: &&Arc<[Entry]>| *rebase(&row.before, self.base(), edited) == *row.after;
        let Some(edited) = self.proposed.as_ref().into_iter().chain(&self.held).find(is_of).cloned() else { return };
        let held = Arc::clone(self.wanted());
        self.held = (*held != *edited).then_some(held);
        (self.accounted, self.proposed) = (Some(edited), None);
    }

    /// Records the entries of the file. A missing or empty file does not delete the entries for all hosts. It is
    /// written again instead.
    pub(super) fn hold(&mut self, found: Vec<Entry>) {
        if found.is_empty() && !self.wanted().is_empty() {
            self.behind = Some(found.into());
            return;
        }
        let edited = match self.behind.take() {
            Some(behind) if *behind == *found => return self.behind = Some(behind),
            // The file was edited before the newest text could be put in place.
            Some(behind) if !behind.is_empty() => rebase(self.wanted(), &behind, &found),
            _ if **self.wanted() == *found => return,
            _ => found.clone(),
        };
        // The database that has the shared entries can't store NUL.
        let edited: Vec<Entry> = edited.into_iter().map(without_nul).collect();
        self.held = (*edited != **self.base()).then(|| edited.as_slice().into());
        self.behind = (edited != found).then(|| found.into());
        self.durable = false;
    }
}

fn without_nul(entry: Entry) -> Entry {
    if entry.contains('\0') { entry.replace('\0', "\u{fffd}").into() } else { entry }
}

/// Changes of a shared store that need revisions. The first one is the edit of the file here by another program, if
/// any.
#[derive(Debug)]
pub struct Proposal<'a> {
    store: &'a mut Store,
    draft: Draft,
}

impl Proposal<'_> {
    /// Returns the store's content after the changes.
    pub fn view(&mut self) -> View {
        self.draft.view(self.store)
    }

    /// Returns the revision after the changes.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.draft.revision
    }

    /// Applies an edit.
    ///
    /// # Errors
    /// The reason why the edit is denied.
    pub fn apply(&mut self, edit: &Edit, author: &Author) -> Result<Applied, EditError> {
        let bound = Arc::clone(&self.draft.bound);
        let applied = self.draft.apply(self.store, edit, author)?;
        if self.draft.bound != bound {
            self.draft.bound = bound;
            return Err(EditError::Bound);
        }
        Ok(applied)
    }

    /// Returns the requested revisions so far, oldest first, without their times.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.draft.rows
    }

    /// Converts the proposal into the requested revisions.
    #[must_use]
    pub fn into_rows(self) -> Vec<Row> {
        self.draft.rows
    }
}

impl Store {
    /// Sets whether a database assigns the store's revisions. When sharing ends, an edit by another program without a
    /// revision gets one here.
    pub fn share(&mut self, is_shared: bool) {
        if self.is_shared != is_shared {
            self.is_shared = is_shared;
            self.ahead.clear();
            self.forget();
        }
    }

    /// Whether another program made an edit that has no revision yet.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn holds_an_edit(&mut self) -> Result<bool, StoreError> {
        self.refresh()?;
        Ok(self.known.as_ref().is_some_and(|known| known.held.is_some()))
    }

    /// Starts a proposal from the newest known revision, after adopting `given`.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn propose(&mut self, given: &[Row], host: &Author) -> Result<Proposal<'_>, StoreError> {
        // A held edit may be among the assigned revisions, so they are adopted first.
        self.adopt(given)?;
        let mut draft = Draft::on(self);
        if let Some(newest) = self.ahead.last() {
            (draft.entries, draft.revision) = (Arc::clone(&newest.after), newest.revision);
        }
        if let Some(known) = &mut self.known
            && let Some(held) = &known.held
        {
            known.proposed = Some(Arc::clone(held));
            let merged = rebase(&draft.entries, known.base(), held);
            if *merged != *draft.entries {
                draft.add(Action::External, host.clone(), merged.into());
            }
        }
        Ok(Proposal { store: self, draft })
    }

    /// Returns the newest known revision and its entries, without the held edit.
    #[must_use]
    pub fn newest(&self) -> (u64, Arc<[Entry]>) {
        match (self.ahead.last(), &self.known) {
            (Some(row), _) => (row.revision, Arc::clone(&row.after)),
            (None, Some(known)) => (known.revision, Arc::clone(&known.entries)),
            (None, None) => (0, Arc::default()),
        }
    }

    /// Accepts assigned revisions, oldest first. Skips those that are already known.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn adopt(&mut self, given: &[Row]) -> Result<(), StoreError> {
        self.refresh()?;
        let (newest, _) = self.newest();
        let new = given.iter().filter(|row| row.revision > newest);
        for row in new {
            if let Some(known) = self.known.as_mut().filter(|_| row.action == Action::External) {
                known.account(row);
            }
            self.events.push(Event::of(row));
            self.ahead.push(row.clone());
        }
        Ok(())
    }

    /// Whether the disk lacks adopted revisions, or the file has to be written again.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        let is_behind = self.known.as_ref().is_some_and(|known| known.behind.is_some());
        !self.ahead.is_empty() || self.is_shared && is_behind
    }

    /// Writes the adopted revisions to disk. An edit by another program stays on top of them. Returns false while
    /// another program holds the lock.
    ///
    /// # Errors
    /// The file can't be read or written. The store is then read again before its next use.
    pub fn settle(&mut self) -> Result<bool, StoreError> {
        if !self.is_ahead() {
            return Ok(true);
        }
        let Some(_lock) = self.locked()? else { return Ok(false) };
        self.settle_locked().map(|()| true)
    }

    /// Like `settle`, for a caller that holds the lock.
    pub(super) fn settle_locked(&mut self) -> Result<(), StoreError> {
        let rows = std::mem::take(&mut self.ahead);
        let adopted = self.adopt_locked(&rows);
        if adopted.is_err() {
            self.ahead = rows;
            self.known = None;
            if self.journal.as_ref().is_some_and(Journal::has_no_remains) {
                self.journal = None;
            }
        }
        adopted
    }

    fn adopt_locked(&mut self, given: &[Row]) -> Result<(), StoreError> {
        let Some(mut known) = self.known.take() else { return Ok(()) };
        let rows: Vec<Row> = given.iter().filter(|row| row.revision > known.revision).cloned().collect();
        let (Some(newest), Some(journal)) = (rows.last().cloned(), &mut self.journal) else {
            self.known = Some(known);
            return Ok(());
        };
        known.make_durable(&self.paths.file)?;
        known.proposed = known.proposed.as_ref().map(|edited| rebase(&newest.after, known.base(), edited).into());
        let mut rows = rows;
        let placed = match known.held.take() {
            // The file already has these entries, so the rows replace no file.
            None if *known.wanted() == newest.after => {
                rows.iter_mut().for_each(|row| row.replaced = Replaced::WrittenAt(NEVER));
                journal.append(rows)?;
                None
            }
            None => {
                let replaced = Replaced::of(known.stamp.map(|stamp| stamp.modified_nanos()));
                rows.iter_mut().for_each(|row| row.replaced = replaced);
                let text = known.text(&newest.after);
                let staged = file::stage(&self.paths.file, text.as_bytes(), TEMPORARY)?;
                journal.commit(rows, Some(staged))?
            }
            Some(held) => {
                // The file is written first. If the journal had the new revisions first, the edit alone would look like
                // a removal of their entries. No row may claim to have replaced the file either.
                rows.iter_mut().for_each(|row| row.replaced = Replaced::WrittenAt(NEVER));
                let merged = rebase(&newest.after, known.base(), &held);
                let placed = if *merged == *held {
                    None
                } else {
                    let text = known.text(&merged);
                    let staged = file::stage(&self.paths.file, text.as_bytes(), TEMPORARY)?;
                    staged.sync()?;
                    let placed = staged.commit()?;
                    file::sync(&self.paths.file)?;
                    Some(placed)
                };
                journal.append(rows)?;
                known.held = (*merged != *newest.after).then(|| merged.into());
                placed
            }
        };
        if let Some(placed) = placed {
            (known.stamp, known.settled) = (Some(placed.stamp), false);
            self.replaced.extend(known.placed.replace(placed));
        }
        (known.entries, known.revision, known.durable) = (Arc::clone(&newest.after), newest.revision, true);
        known.accounted = None;
        self.known = Some(known);
        Ok(())
    }

    /// Starts the journal from scratch with these revisions, oldest first, if the store is still at the revision
    /// `seen`. Keeps the old journal next to it under another name. From then on a database assigns the revisions.
    /// Returns false if another program holds the lock or the store has changed.
    ///
    /// # Errors
    /// The file can't be read or written.
    pub fn begin_shared(&mut self, seen: u64, rows: &[Row]) -> Result<bool, StoreError> {
        let Some(lock) = self.locked()? else { return Ok(false) };
        let known = self.known.as_ref();
        if known.is_none_or(|known| known.revision != seen || !known.unwritten.is_empty()) {
            return Ok(false);
        }
        let is_newest =
            |row: &Row| rows.last().is_some_and(|last| (last.revision, &last.after) == (row.revision, &row.after));
        let newest = self.journal.as_ref().and_then(Journal::newest);
        if self.is_shared && newest.map_or(rows.is_empty(), is_newest) {
            return Ok(true);
        }
        let entries: Arc<[Entry]> = rows.last().map(|row| Arc::clone(&row.after)).unwrap_or_default();
        let bound = match known {
            Some(known) if self.is_shared => known.bound.to_vec(),
            Some(known) => part(known.entries.to_vec()).1,
            None => Vec::new(),
        };
        let entries = all(&entries, &bound);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if self.journal.as_ref().is_some_and(|journal| journal.newest().is_some()) {
            let aside = |at: u64| {
                let mut name = self.paths.journal.clone().into_os_string();
                name.push(format!(".before-sharing.{at}"));
                PathBuf::from(name)
            };
            let free = (now..).map(aside).find(|path| !path.exists()).unwrap_or_default();
            file::hard_link_as(&self.paths.journal, &free)?;
        }
        self.forget();
        if !entries.is_empty() {
            // The old journal makes this file look edited, so nothing is lost if the process ends here.
            file::replace(&self.paths.file, join(&entries).as_bytes(), TEMPORARY)?;
        }
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| write_row(row, &mut bytes));
        if let Some(folder) = self.paths.journal.parent() {
            herma_disk::folder::create(folder)?;
        }
        file::replace(&self.paths.journal, &bytes, journal::TEMPORARY)?;
        self.newest = 0;
        self.ahead.clear();
        self.is_shared = true;
        self.refresh()?;
        self.events.extend(rows.last().filter(|row| row.revision != seen).map(Event::of));
        drop(lock);
        Ok(true)
    }
}

/// Applies an edit of `base` to `now`. If `now` equals `base`, the result is exactly the edit. Otherwise the order of
/// the edited entries is not kept.
fn rebase(now: &[Entry], base: &[Entry], edited: &[Entry]) -> Vec<Entry> {
    if *now == *base { edited.to_vec() } else { merge(base, edited, now) }
}

#[cfg(test)]
mod tests;
