//! The catalog of all outputs, in memory and in an append-only file.
//!
//! The file is not synced. The outputs are, and the catalog can be rebuilt from them. If the file can't be read or
//! written, outputs are still kept and read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_disk::append::Appender;
use herma_disk::file::{self, Temporary};
use herma_disk::{DiskError, folder};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::facts::to_u64;
use crate::handle::Handle;

pub(crate) mod known;
pub(crate) mod row;

use known::Known;
use row::{Begun, Row, Unread};

/// The maximum length of a line, in bytes; a longer one is damaged.
const LINE: usize = 64 << 10;

/// How many lines the file may have beyond twice the needed ones before it is rewritten.
const SLACK: usize = 500;

/// Bytes of the rows that wait while the file can't be appended to. Above that they are dropped, and the file is
/// rewritten as soon as possible.
const PENDING: usize = 256 << 10;

/// The byte that replaces the first byte of an invalid line.
const DENIED: &[u8] = b"#";

/// The maximum number of notices that wait to be read.
const NOTICES: usize = 64;

const TEMPORARY: Temporary = Temporary { prefix: ".outputs_", suffix: ".tmp" };

/// The catalog's record of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The handle of the output.
    pub handle: Handle,
    /// The session that it belongs to; the folder's name if it was found there.
    pub session: Arc<str>,
    /// The session's profile; empty when unknown.
    pub profile: Arc<str>,
    /// The tool that it is a result of; empty when unknown.
    pub tool: Arc<str>,
    /// The id of the call.
    pub id: Box<str>,
    /// `<folder>/<name>` below the root.
    pub file: Box<str>,
    /// Chars of the text.
    pub chars: u64,
    /// Lines of the text.
    pub lines: u64,
    /// Bytes of the text.
    pub bytes: u64,
    /// SHA-256 of the text.
    pub sha256: [u8; 32],
    /// When it was saved, in Unix seconds.
    pub created_at: f64,
    /// Whether it still exists.
    pub state: State,
}

impl Record {
    /// Returns the folder below the root that its file is in, or was in.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }

    /// Whether nothing else is known of it than that it was found in this folder. Another session may have the folder's
    /// name.
    pub(crate) fn is_found_in(&self, folder: &str) -> bool {
        self.profile.is_empty() && self.tool.is_empty() && *self.session == *folder && self.folder() == folder
    }
}

/// Whether an output still exists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// It exists.
    Kept,
    /// It no longer exists.
    Expired {
        /// Since when, in Unix seconds.
        at: f64,
        /// Why.
        reason: Reason,
    },
}

/// The reason why an output no longer exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was too old.
    Ttl,
    /// All outputs together were too large.
    Quota,
    /// A caller removed it.
    Removed,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Ttl => "it was old",
            Self::Quota => "the outputs together were too large",
            Self::Removed => "it was removed",
        })
    }
}

/// Lines that wait, and the offsets of the `begin` lines among them.
#[derive(Debug, Default)]
struct Pending {
    lines: Vec<u8>,
    count: usize,
    begun: Vec<(Handle, usize)>,
}

/// The records and their file.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) known: Known,
    /// `None` for one that is in memory only.
    path: Option<PathBuf>,
    appender: Option<Appender>,
    /// Whether the file could be read, and so may be rewritten.
    was_read: bool,
    /// Rows that could not be appended yet.
    pending: Pending,
    /// Whether the file lacks rows that are not pending either.
    lacks_rows: bool,
    /// Files that are being written now, each with the offset of its `begin` line in the catalog's file.
    live: HashMap<Handle, (Begun, Option<u64>)>,
    /// Whether the rows that were read may be incomplete: a line was damaged or of an unknown kind, or the file could
    /// not be read to its end. Then a file may be an output even if the catalog says that it was only begun.
    pub(crate) is_doubtful: bool,
    /// Whether lines are damaged and none is of a newer version. Rewriting the file loses nothing then.
    is_damaged: bool,
    lines: usize,
    /// When an earlier daemon last collected outputs, in Unix seconds.
    pub(crate) last_seen: Option<f64>,
    /// Seconds that earlier daemons ran with a doubtful clock, up to that time.
    doubted_before: f64,
    notices: Vec<String>,
}

impl Catalog {
    /// Reads the file. Damaged lines are skipped, with a notice.
    pub(crate) fn open(path: &Path) -> Self {
        let mut catalog = Self { path: Some(path.to_owned()), ..Self::default() };
        let (mut damaged, mut unknown) = (0, 0);
        let read = Appender::open_to_read(path).and_then(|appender| match appender {
            None => Ok(()),
            Some(appender) => appender.lines(LINE, |line| {
                catalog.lines += 1;
                let is_taken = match row::read(line) {
                    Ok(row) => catalog.known.apply(row),
                    Err(Unread::Damaged) => false,
                    Err(Unread::Unknown) => {
                        unknown += 1;
                        catalog.is_doubtful = true;
                        return;
                    }
                };
                damaged += usize::from(!is_taken);
                // If the row of a begun file was torn, the file was not written yet.
                catalog.is_doubtful |= !is_taken && !row::is_torn_begin(line);
            }),
        });
        if damaged + unknown > 0 {
            catalog.notice(format!(
                "{damaged} lines of {} are damaged and {unknown} of a newer version: they were skipped",
                path.display()
            ));
        }
        catalog.is_damaged = damaged > 0 && unknown == 0;
        match read {
            Ok(()) => catalog.was_read = true,
            Err(error) => {
                catalog.is_doubtful = true;
                catalog.notice(format!("what is known of the outputs could not be read: {error}"));
            }
        }
        (catalog.last_seen, catalog.doubted_before) = (catalog.known.last_seen, catalog.known.doubted);
        catalog
    }

    /// Notes that a file is about to be written.
    pub(crate) fn begin(&mut self, begun: &Begun) {
        self.live.insert(Handle::of(&begun.file), (begun.clone(), None));
        self.append(&Row::Begin(begun.clone()));
    }

    /// Notes that a begun file is written, or that writing it failed.
    pub(crate) fn end(&mut self, handle: Handle) {
        self.live.remove(&handle);
    }

    /// Appends a row to the file, after the rows that wait. A failure only causes a notice: the file stays unchanged,
    /// and the row waits.
    pub(crate) fn append(&mut self, row: &Row) {
        self.append_all(std::slice::from_ref(row));
    }

    /// Appends several rows in one write.
    pub(crate) fn append_all(&mut self, rows: &[Row]) {
        let Some(path) = self.path.clone().filter(|_| !rows.is_empty()) else { return };
        let was_whole = self.pending.count == 0 && !self.lacks_rows;
        for row in rows {
            if let Row::Begin(begun) = row {
                self.pending.begun.push((Handle::of(&begun.file), self.pending.lines.len()));
            }
            row::write(row, &mut self.pending.lines);
            self.pending.count += 1;
        }
        let Err(error) = self.flush(&path) else { return };
        if was_whole {
            self.notice(format!("the catalog of outputs is in memory only: {error}"));
        }
        for row in rows {
            if let Row::Kept(kept) = row {
                self.deny_begin(Handle::of(&kept.begun.file));
            }
        }
        if self.pending.lines.len() > PENDING {
            self.pending = Pending::default();
            self.lacks_rows = true;
        }
    }

    /// Appends the rows that wait: all or none.
    fn flush(&mut self, path: &Path) -> Result<(), DiskError> {
        if self.appender.is_none() {
            folder::create(path.parent().unwrap_or(Path::new(".")))?;
            let mut appender = Appender::open(path)?;
            let end = appender.length();
            if end > 0 && appender.read(end - 1, 1)? != b"\n" {
                appender.append(b"\n")?;
            }
            self.appender = Some(appender);
        }
        let Some(appender) = &mut self.appender else { return Ok(()) };
        let offset = appender.length();
        appender.append(&self.pending.lines)?;
        for (begun, at) in self.pending.begun.drain(..) {
            if let Some((_, place)) = self.live.get_mut(&begun) {
                *place = Some(offset + to_u64(at));
            }
        }
        self.lines += std::mem::take(&mut self.pending.count);
        self.pending.lines.clear();
        Ok(())
    }

    /// Invalidates the line that says that a file was begun, because the row that it is kept could not be appended
    /// after it. Otherwise the next daemon would take the output for one whose handle was never returned.
    fn deny_begin(&mut self, handle: Handle) {
        let (Some((_, Some(offset))), Some(appender)) = (self.live.get(&handle), &mut self.appender) else { return };
        if appender.overwrite(*offset, DENIED).is_err() {
            // The rest of the line raises the same doubt.
            drop(appender.cut(*offset + 1));
            (self.appender, self.lacks_rows) = (None, true);
        }
        self.is_damaged = true;
    }

    /// Forgets outputs that expired long ago. Rewrites the file if it is much longer than needed, or differs from the
    /// records.
    pub(crate) fn tidy(&mut self, now: f64) {
        self.known.prune(now);
        let Some(path) = self.path.clone() else { return };
        let lags = self.pending.count > 0 && self.flush(&path).is_err();
        if lags || self.lacks_rows || self.is_damaged || self.lines > 2 * self.known.rows_needed() + SLACK {
            let rewritten = self.rewrite(&path);
            if let Err(error) = rewritten {
                self.notice(format!("the catalog of outputs could not be rewritten: {error}"));
            }
        }
    }

    /// Rewrites the file, so that forgotten outputs are no longer in it. A failure causes a notice, and the next row
    /// tries again.
    pub(crate) fn purge(&mut self) {
        let Some(path) = self.path.clone() else { return };
        if let Err(error) = self.rewrite(&path) {
            self.lacks_rows = true;
            self.notice(format!("names of removed outputs are still in a file: {error}"));
        }
    }

    fn rewrite(&mut self, path: &Path) -> Result<(), DiskError> {
        if !self.was_read {
            // A file that could not be read is not overwritten.
            return Ok(());
        }
        let (mut lines, mut length, mut places) = (0, 0, Vec::new());
        file::replace_with(path, TEMPORARY, |out| {
            let mut buffer = Vec::new();
            let live = self.live.values().map(|(begun, _)| Row::Begin(begun.clone()));
            for row in self.known.rows().chain(live) {
                let before = buffer.len();
                row::write(&row, &mut buffer);
                if let Row::Begin(begun) = &row {
                    places.push((Handle::of(&begun.file), length));
                }
                length += to_u64(buffer.len() - before);
                lines += 1;
                if buffer.len() > LINE {
                    out.write_all(&buffer)?;
                    buffer.clear();
                }
            }
            out.write_all(&buffer)
        })?;
        for (handle, offset) in places {
            if let Some((_, place)) = self.live.get_mut(&handle) {
                *place = Some(offset);
            }
        }
        self.pending = Pending::default();
        (self.appender, self.lacks_rows, self.is_damaged, self.lines) = (None, false, false, lines);
        Ok(())
    }

    /// Returns the clocks, corrected with the doubtful time that earlier daemons noted.
    pub(crate) fn believed(&self, clock: Clock) -> Clock {
        clock.after_doubt(self.doubted_before)
    }

    /// Notes that outputs were collected.
    pub(crate) fn seen(&mut self, clock: Clock) {
        let doubted = if clock.is_doubtful() { self.doubted_before + clock.monotonic_since_start } else { 0.0 };
        let at = clock.seen();
        (self.known.last_seen, self.known.doubted) = (Some(at), doubted);
        self.append(&Row::Seen { at, doubted });
    }

    /// Adds a notice for the log.
    pub(crate) fn notice(&mut self, words: String) {
        if self.notices.len() < NOTICES {
            self.notices.push(words);
        }
    }

    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Removes temporary files that a killed daemon left next to the file.
    pub(crate) fn sweep(&self) -> Result<(), DiskError> {
        let Some(folder) = self.path.as_deref().and_then(Path::parent) else { return Ok(()) };
        let age = std::time::Duration::from_mins(1);
        folder::sweep(folder, TEMPORARY.prefix, TEMPORARY.suffix, age, std::time::SystemTime::now()).map(drop)
    }
}

#[cfg(test)]
mod tests;
