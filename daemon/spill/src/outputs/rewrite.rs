//! Replaces the text of an output, for example to mask the secrets in it.

use std::sync::PoisonError;

use herma_disk::file;

use super::read::whole;
use super::{Outputs, TEMPORARY};
use crate::catalog::State;
use crate::catalog::known::row_of;
use crate::error::SpillError;
use crate::facts::{Facts, to_u64};
use crate::handle::Handle;

/// The longest output that is rewritten, in bytes. It is read into memory.
const LONGEST: u64 = 256 << 20;

/// The result of rewriting an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewritten {
    /// Its text or its record is another one now, or would be without a dry run.
    Changed,
    /// Its text stays, or it is gone.
    Same,
    /// It is too long to be read into memory.
    TooLong,
}

impl Outputs {
    /// Replaces the text of an output by what `change` returns; `None` leaves it. Its handle stays. With `dry_run` nothing
    /// is written.
    ///
    /// # Errors
    /// The file can't be read or written; the old text is still there then.
    pub fn rewrite(
        &self,
        handle: Handle,
        change: &mut dyn FnMut(&str) -> Option<String>,
        dry_run: bool,
    ) -> Result<Rewritten, SpillError> {
        let kept = |record: &crate::catalog::Record| record.state == State::Kept;
        let Some(record) = self.record(handle).filter(kept) else { return Ok(Rewritten::Same) };
        if record.bytes > LONGEST {
            return Ok(Rewritten::TooLong);
        }
        let path = self.path(&record);
        let _lock = self.path_locks.wait(handle, record.folder());
        let file = match self.find(&handle.to_string()) {
            Ok(file) => file,
            Err(SpillError::Expired { .. } | SpillError::NotFound { .. }) => return Ok(Rewritten::Same),
            Err(error) => return Err(error),
        };
        let old = whole(&file)?;
        let changed = change(&old);
        // A process that was killed here left a record of the text before.
        if changed.is_none() && record.bytes == to_u64(old.len()) {
            return Ok(Rewritten::Same);
        }
        if dry_run {
            return Ok(Rewritten::Changed);
        }
        let Some(text) = changed else {
            self.put_record(&row_of(&record).begun, Facts::of(&old), to_u64(old.len()), record.created_at);
            return Ok(Rewritten::Changed);
        };
        file::replace_with(&path, TEMPORARY, |out| out.write_all(text.as_bytes()))?;
        self.put_record(&row_of(&record).begun, Facts::of(&text), to_u64(text.len()), record.created_at);
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).forget(&path);
        self.make_index(&path, &text, None);
        Ok(Rewritten::Changed)
    }
}
