//! Rewrites the journal of a store, for example to mask the secrets in it.

use std::sync::Arc;

use herma_disk::file;

use super::{Store, StoreError};
use crate::entries::Entry;
use crate::journal::line::Row;

/// The result of rewriting a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrubbedJournal {
    /// So many rows changed, or would change in a dry run.
    Rows(usize),
    /// Another program holds the lock of the store.
    Locked,
    /// The journal has damaged lines, which are left as they are, or the store itself has a text to change.
    Left,
}

impl Store {
    /// Replaces each entry in the journal by what `change` returns; `None` leaves it. The texts of the store itself must
    /// not change. With `dry_run` nothing is written.
    ///
    /// # Errors
    /// The file can't be read, or the journal can't be written; the journal is unchanged then.
    pub fn scrub_journal(
        &mut self,
        change: &mut dyn FnMut(&str) -> Option<String>,
        dry_run: bool,
    ) -> Result<ScrubbedJournal, StoreError> {
        let Some(_lock) = self.locked()? else { return Ok(ScrubbedJournal::Locked) };
        let entries = self.current().entries;
        let is_due = !dry_run && entries.iter().any(|entry| change(entry).is_some());
        let Some(journal) = self.journal.as_mut() else { return Ok(ScrubbedJournal::Rows(0)) };
        let mut rows = Vec::new();
        for mark in journal.marks() {
            let mut row = journal.row_at(mark).map_err(StoreError::unreadable)?;
            let changed = [scrubbed(&mut row.before, change), scrubbed(&mut row.after, change)];
            rows.push((row, changed.contains(&true)));
        }
        let count = rows.iter().filter(|(_, is_changed)| *is_changed).count();
        if count == 0 || dry_run {
            return Ok(ScrubbedJournal::Rows(count));
        }
        if is_due || journal.damaged() > 0 {
            return Ok(ScrubbedJournal::Left);
        }
        // The new journal must not know less than the file.
        file::sync(&self.paths.file)?;
        let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        journal.rewrite(&rows)?;
        self.forget();
        self.refresh()?;
        Ok(ScrubbedJournal::Rows(count))
    }
}

/// Changes entries, and returns whether any is another one now.
fn scrubbed(entries: &mut Arc<[Entry]>, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    let changed: Vec<Option<String>> = entries.iter().map(|entry| change(entry)).collect();
    if changed.iter().all(Option::is_none) {
        return false;
    }
    let new = entries.iter().zip(changed).map(|(entry, new)| new.map_or_else(|| entry.clone(), Entry::from));
    *entries = new.collect();
    true
}
