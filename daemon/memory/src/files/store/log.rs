//! Reads the history of the files.

use std::sync::Arc;

use super::past::{texts_at, unreadable};
use super::put_back::concerns;
use super::{FileAction, FilePath, FileRefusal, FileRow, FileStore, FileStoreError, Journalling, StoreError};

impl FileStore {
    /// Returns the changes of a file or folder below the revision `before`, newest first. Stops at `limit` rows, or
    /// once their texts have `bytes` bytes. The flag is true if older rows exist. Each row has only the changes that
    /// concern the path.
    ///
    /// # Errors
    /// A folder or the journal can't be read.
    pub fn log(
        &mut self,
        path: &FilePath,
        before: Option<u64>,
        limit: usize,
        bytes: usize,
    ) -> Result<(Vec<FileRow>, bool), StoreError> {
        self.look(Journalling::Wanted)?;
        let (mut rows, mut taken) = (Vec::new(), 0);
        let Some(journal) = &self.journal else { return Ok((rows, false)) };
        let marks = journal.marks().rev();
        for mark in marks.filter(|mark| before.is_none_or(|before| mark.revision < before)) {
            let mut row = journal.row_at(mark).map_err(unreadable)?;
            row.changes.retain(|change| concerns(path, &change.path));
            if row.changes.is_empty() || row.action == FileAction::Found {
                continue;
            }
            let texts = row.changes.iter().flat_map(|change| [&change.before, &change.after]).flatten();
            taken += texts.map(|text| text.len()).sum::<usize>();
            if rows.len() == limit || (taken > bytes && !rows.is_empty()) {
                return Ok((rows, true));
            }
            rows.push(row);
        }
        Ok((rows, false))
    }

    /// Returns the text of a file at a revision.
    ///
    /// # Errors
    /// The revision is not kept, or the file did not exist then.
    pub fn text_at(&mut self, path: &FilePath, revision: u64) -> Result<Arc<str>, FileStoreError> {
        self.look(Journalling::Wanted)?;
        let (Some(files), Some(journal)) = (&self.known, &self.journal) else {
            return Err(FileRefusal::NotThere(path.clone()).into());
        };
        let then = texts_at(journal, files, revision)?;
        then.get(path).cloned().ok_or_else(|| FileRefusal::NotThere(path.clone()).into())
    }
}
