//! What is known of every output: in memory, and in a file that is appended to.
//!
//! The file is not synced: the outputs are, and it can be made again from them. Where it
//! can't be read or written, outputs are kept and read all the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_disk::append::Appender;
use herma_disk::file::{self, Temporary};
use herma_disk::{DiskError, folder};
use serde::{Deserialize, Serialize};

use crate::handle::Handle;
use crate::retention::Clock;

pub(crate) mod known;
pub(crate) mod row;

use known::Known;
use row::{Row, Unread};

/// Longest line in bytes; a longer one is damaged.
const LINE: usize = 64 << 10;

/// Lines beyond thrice those that are needed before the file is written anew.
const SLACK: usize = 10_000;

/// Notices that are held until somebody takes them.
const NOTICES: usize = 64;

const TEMPORARY: Temporary = Temporary { prefix: ".outputs_", suffix: ".tmp" };

/// What is known of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Names it.
    pub handle: Handle,
    /// The session that it belongs to; the folder's name when it was found there.
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
    /// When it was kept, in Unix seconds.
    pub created_at: f64,
    /// Whether it is still there.
    pub state: State,
}

impl Record {
    /// The folder below the root that its file is in, or was.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }
}

/// Whether an output is still there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// It is.
    Kept,
    /// It is not.
    Expired {
        /// Since when, in Unix seconds.
        at: f64,
        /// Why.
        reason: Reason,
    },
}

/// Why an output is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was old.
    Ttl,
    /// All together were too large.
    Quota,
    /// Somebody removed it.
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

/// The records and their file.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) known: Known,
    /// `None` for one that is in memory only.
    path: Option<PathBuf>,
    appender: Option<Appender>,
    /// The file could be read, so it may be written anew.
    was_read: bool,
    /// The file lacks rows, for one could not be appended.
    lacks_rows: bool,
    /// What was read may lack rows: a line was damaged or of a kind that is not known, or
    /// the file could not be read to its end. Then a file that was only begun by what the
    /// catalog says may be an output all the same.
    pub(crate) is_doubtful: bool,
    /// Lines are damaged, and none is of a newer version: writing the file anew loses nothing.
    is_damaged: bool,
    lines: usize,
    /// When the last collection of an earlier daemon was, in Unix seconds.
    pub(crate) last_seen: Option<f64>,
    /// Seconds that earlier daemons ran while the clock was in doubt, up to that time.
    doubted_before: f64,
    notices: Vec<String>,
}

impl Catalog {
    /// Reads the file. Lines that are damaged are skipped, with a notice.
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
                // A file whose row was torn while it was begun was not made yet.
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

    /// Appends a row to the file. A failure is only noticed.
    pub(crate) fn append(&mut self, row: &Row) {
        let Some(path) = self.path.clone() else { return };
        let mut line = Vec::new();
        row::write(row, &mut line);
        match self.try_append(&path, &line) {
            Ok(()) => self.lines += 1,
            Err(error) => {
                if !self.lacks_rows {
                    self.notice(format!("what is known of the outputs is in memory only: {error}"));
                }
                self.lacks_rows = true;
                // A file that tells that an output was begun but not that it is kept would
                // lead the next daemon to remove it; without the file it is found.
                if let Some(mut appender) = self.appender.take()
                    && self.was_read
                {
                    drop(appender.cut(0));
                }
            }
        }
    }

    fn try_append(&mut self, path: &Path, line: &[u8]) -> Result<(), DiskError> {
        if self.lacks_rows {
            return self.rewrite(path);
        }
        if self.appender.is_none() {
            folder::create(path.parent().unwrap_or(Path::new(".")))?;
            let mut appender = Appender::open(path)?;
            let end = appender.length();
            if end > 0 && appender.read(end - 1, 1)? != b"\n" {
                appender.append(b"\n")?;
            }
            self.appender = Some(appender);
        }
        self.appender.as_mut().map_or(Ok(()), |appender| appender.append(line))
    }

    /// Forgets what expired long ago, and writes the file anew when it is much longer
    /// than what it says.
    pub(crate) fn tidy(&mut self, now: f64) {
        self.known.prune(now);
        let Some(path) = self.path.clone() else { return };
        if self.lacks_rows || self.is_damaged || self.lines > 3 * self.known.rows_needed() + SLACK {
            let rewritten = self.rewrite(&path);
            if let Err(error) = rewritten {
                self.notice(format!("what is known of the outputs could not be written anew: {error}"));
            }
        }
    }

    /// Writes the file anew, so that what was forgotten is not in it any more. A failure is
    /// noticed, and made good by the next row.
    pub(crate) fn purge(&mut self) {
        let Some(path) = self.path.clone() else { return };
        if let Err(error) = self.rewrite(&path) {
            self.lacks_rows = true;
            self.notice(format!("names of removed outputs are still in a file: {error}"));
        }
    }

    fn rewrite(&mut self, path: &Path) -> Result<(), DiskError> {
        if !self.was_read {
            // What could not be read is not overwritten.
            return Ok(());
        }
        let mut lines = 0;
        file::replace_with(path, TEMPORARY, |out| {
            let mut buffer = Vec::new();
            for row in self.known.rows() {
                row::write(&row, &mut buffer);
                lines += 1;
                if buffer.len() > LINE {
                    out.write_all(&buffer)?;
                    buffer.clear();
                }
            }
            out.write_all(&buffer)
        })?;
        (self.appender, self.lacks_rows, self.is_damaged, self.lines) = (None, false, false, lines);
        Ok(())
    }

    /// The clocks as they are to be believed, by what earlier daemons wrote down.
    pub(crate) fn believed(&self, clock: Clock) -> Clock {
        clock.after_doubt(self.doubted_before)
    }

    /// Writes down that outputs were collected.
    pub(crate) fn seen(&mut self, clock: Clock) {
        let doubted = if clock.is_doubtful() { self.doubted_before + clock.monotonic_since_start } else { 0.0 };
        let at = clock.seen();
        (self.known.last_seen, self.known.doubted) = (Some(at), doubted);
        self.append(&Row::Seen { at, doubted });
    }

    /// Something the log should tell.
    pub(crate) fn notice(&mut self, words: String) {
        if self.notices.len() < NOTICES {
            self.notices.push(words);
        }
    }

    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Removes what a killed daemon left beside the file.
    pub(crate) fn sweep(&self) -> Result<(), DiskError> {
        let Some(folder) = self.path.as_deref().and_then(Path::parent) else { return Ok(()) };
        let age = std::time::Duration::from_mins(1);
        folder::sweep(folder, TEMPORARY.prefix, TEMPORARY.suffix, age, std::time::SystemTime::now()).map(drop)
    }
}
