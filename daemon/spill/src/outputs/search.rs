//! Searches through outputs.

use herma_disk::Cause;

use super::Outputs;
use crate::catalog::{Record, State};
use crate::error::{SpillError, shorten};
use crate::handle::{Handle, split_line};
use crate::located::Located;
use crate::search::needle::{Hits, Ready};
use crate::search::shown::row;
use crate::search::{Found, MOST_CONTEXT, MOST_ROWS, Query, Scope};

impl Outputs {
    /// Searches for a text or a pattern. Outputs that vanish meanwhile are skipped. So are files that are no text,
    /// unless the query names one with its handle. The texts are remembered as returned to an agent.
    ///
    /// # Errors
    /// The query is invalid; there is no such output, or it expired or can't be read; or [`SpillError::Cancelled`].
    pub fn search(&self, query: &Query, is_cancelled: &dyn Fn() -> bool) -> Result<Found, SpillError> {
        let ready = Ready::new(&query.needle)?;
        let mut found = Found::default();
        if let Scope::Handle(asked) = &query.scope {
            let not_found = || SpillError::NotFound(shorten(asked));
            let handle = Handle::parse(split_line(asked).0).ok_or_else(not_found)?;
            self.search_in(handle, &self.located(self.find(asked)?)?, &ready, query, is_cancelled, &mut found)?;
        } else {
            let session = match &query.scope {
                Scope::Session(session) => Some(session.as_str()),
                _ => None,
            };
            for record in self.list(session, usize::MAX).iter().filter(|record| record.state == State::Kept) {
                match self.search_record(record, &ready, query, is_cancelled, &mut found) {
                    Err(SpillError::NotFound(_) | SpillError::NotText { .. } | SpillError::Outside(_)) => {}
                    Err(SpillError::Disk(error)) if matches!(error.cause(), Cause::Missing | Cause::Unsuitable) => {}
                    searched => searched?,
                }
                if found.more {
                    break;
                }
            }
        }
        found.matches.iter().for_each(|row| self.gave(&row.text));
        Ok(found)
    }

    fn search_record(
        &self,
        record: &Record,
        ready: &Ready,
        query: &Query,
        is_cancelled: &dyn Fn() -> bool,
        found: &mut Found,
    ) -> Result<(), SpillError> {
        let file = self.open_inside(&self.path(record), &record.file)?;
        self.search_in(record.handle, &self.located(file)?, ready, query, is_cancelled, found)
    }

    fn search_in(
        &self,
        handle: Handle,
        file: &Located,
        ready: &Ready,
        query: &Query,
        is_cancelled: &dyn Fn() -> bool,
        found: &mut Found,
    ) -> Result<(), SpillError> {
        found.searched_bytes += file.length();
        let mut hits = Hits::new(ready, file, is_cancelled);
        let (mut from, mut shown) = (0, 0..0);
        while let Some((start, end)) = hits.next(from)? {
            from = if end > start { end } else { file.next_char(start)? };
            if start >= shown.start && end <= shown.end && !shown.is_empty() {
                continue;
            }
            if found.matches.len() >= query.limit.min(MOST_ROWS) {
                found.more = true;
                return Ok(());
            }
            if is_cancelled() {
                return Err(SpillError::Cancelled);
            }
            let row = row(file, handle, (start, end), query.context.min(MOST_CONTEXT))?;
            shown = row.from..row.to;
            if !row.found.cut {
                from = from.max(row.to);
            }
            found.matches.push(row.found);
        }
        Ok(())
    }
}
