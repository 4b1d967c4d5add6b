//! The journal of a store, or of a profile's files: every change with the text before and after it.
//!
//! The journal makes a change durable, so it is synced before the file is replaced. Lines are only appended. The
//! remains of a failed or killed write are cut off. A damaged line in the middle stays and is skipped.

pub(crate) mod line;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_disk::append::Appender;
use herma_disk::file::{self, CommittedFile, Staged, Temporary};
use herma_disk::{DiskError, folder};

use crate::entries::Entry;
use line::{Head, Row, read_head, write_settled};

/// Longest line that is read, in bytes. It fits the texts before and after for the longest readable store, with every
/// char escaped.
const LINE_LIMIT: usize = 256 << 20;

/// The temporary name of a compacted journal until it replaces the old one.
pub(crate) const TEMPORARY: Temporary = Temporary { prefix: ".journal_", suffix: ".tmp" };

/// A row of a journal.
pub(crate) trait Record: Sized {
    /// Returns the revision that this row made.
    fn revision(&self) -> u64;

    /// Appends the row's line, newline included.
    fn write(&self, out: &mut Vec<u8>);

    /// Parses a whole line. Returns `None` if it is damaged or not a change.
    fn read(line: &[u8]) -> Option<Self>;
}

/// A change to files that is staged at temporary paths until the journal has its row.
pub(crate) trait Stage {
    /// The state of the files once they are in place.
    type CommittedFile;

    /// Makes the staged files durable at their temporary paths.
    ///
    /// # Errors
    /// A sync failed.
    fn sync(&self) -> Result<(), DiskError>;

    /// Moves the staged files into place.
    ///
    /// # Errors
    /// A step failed. The old content is then back in place.
    fn commit(self) -> Result<Self::CommittedFile, DiskError>;
}

impl Stage for Staged<'_> {
    type CommittedFile = CommittedFile;

    fn sync(&self) -> Result<(), DiskError> {
        Staged::sync(self)
    }

    fn commit(self) -> Result<CommittedFile, DiskError> {
        Staged::commit(self)
    }
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal<R = Row> {
    path: PathBuf,
    /// `None` if the file does not exist.
    appender: Option<Appender>,
    /// The readable rows, in order.
    marks: VecDeque<Mark>,
    /// The newest row. `None` if there is none.
    newest: Option<R>,
    /// Number of unreadable lines.
    damaged: u64,
    /// Damaged lines after the newest row. Each may have been a revision.
    damaged_last: u64,
    /// Whether the last line says that the file was durable at the newest revision.
    settled: bool,
    /// Bytes of an incomplete last line.
    torn: u64,
    /// Offset of the remains of a failed write, which must be cut off first.
    unwanted: Option<u64>,
}

/// The position of a row, with the facts that are needed often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) revision: u64,
    /// Whether the file was durable at this revision.
    pub(crate) settled: bool,
    offset: u64,
    length: usize,
}

impl Mark {
    /// Returns the bytes of its line.
    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.length).unwrap_or(u64::MAX)
    }
}

impl<R: Record> Journal<R> {
    /// Opens a journal. A missing file is an empty journal.
    ///
    /// # Errors
    /// The file can't be read. Damaged lines are no error.
    pub(crate) fn open(path: &Path) -> Result<Self, DiskError> {
        let mut journal = Self {
            path: path.to_owned(),
            appender: Appender::open_to_read(path)?,
            marks: VecDeque::new(),
            newest: None,
            damaged: 0,
            damaged_last: 0,
            settled: false,
            torn: 0,
            unwanted: None,
        };
        if let Some(appender) = &journal.appender {
            let mut index = Index::default();
            appender.lines(LINE_LIMIT, |line| index.take(line))?;
            journal.marks = index.marks;
            journal.damaged = index.damaged;
            journal.damaged_last = index.damaged_last;
            journal.settled = index.settled;
            journal.torn = index.torn;
            journal.newest = journal.marks.back().map(|mark| journal.row_at(mark)).transpose()?;
        }
        if journal.torn > 0 {
            tracing::warn!("{}: dropped a last line of {} bytes that has no end", path.display(), journal.torn);
        }
        if journal.damaged > 0 {
            tracing::error!("{}: {} lines are damaged; they are left as they are", path.display(), journal.damaged);
        }
        Ok(journal)
    }

    /// Returns the newest row.
    pub(crate) const fn newest(&self) -> Option<&R> {
        self.newest.as_ref()
    }

    /// Returns the newest revision, as far as it is known. Each damaged line counts as a revision, so that none is
    /// assigned twice.
    pub(crate) fn revision(&self) -> u64 {
        self.newest.as_ref().map_or(0, Record::revision) + self.damaged_last
    }

    /// Returns the number of unreadable lines.
    pub(crate) const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the readable rows, oldest first, without their texts.
    pub(crate) fn marks(&self) -> impl DoubleEndedIterator<Item = &Mark> {
        self.marks.iter()
    }

    /// Reads a row with its texts.
    ///
    /// # Errors
    /// The row can't be read any more.
    pub(crate) fn row_at(&self, mark: &Mark) -> Result<R, DiskError> {
        let gone = || DiskError {
            operation: "read a change in",
            path: self.path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, "it was changed by another program"),
        };
        let appender = self.appender.as_ref().ok_or_else(gone)?;
        R::read(&appender.read(mark.offset, mark.length)?).ok_or_else(gone)
    }

    /// Returns the oldest and the newest revision whose texts are kept.
    pub(crate) fn kept(&self) -> Option<(u64, u64)> {
        let (oldest, newest) = (self.marks.front()?, self.marks.back()?);
        Some((oldest.revision.saturating_sub(1), newest.revision))
    }

    /// Whether the file is still the one that was read. It may be longer while the remains of a failed write must be
    /// cut off.
    pub(crate) fn is_current(&self) -> bool {
        match &self.appender {
            None => !self.path.exists(),
            Some(appender) if self.unwanted.is_some() => appender.is_in_place(),
            Some(appender) => appender.is_unchanged(),
        }
    }

    /// Appends rows for changes that are already in place, and makes them durable.
    ///
    /// # Errors
    /// As [`Journal::commit`].
    pub(crate) fn append(&mut self, rows: Vec<R>) -> Result<(), DiskError> {
        self.commit(rows, None::<Staged<'_>>).map(drop)
    }

    /// Appends rows and makes them durable together with the staged files, which are then moved into place.
    ///
    /// # Errors
    /// A step failed. The journal then keeps none of the rows.
    pub(crate) fn commit<S: Stage>(
        &mut self,
        rows: Vec<R>,
        staged: Option<S>,
    ) -> Result<Option<S::CommittedFile>, DiskError> {
        self.cut_remains()?;
        let mut bytes = Vec::new();
        let mut marks = Vec::with_capacity(rows.len());
        let start = self.writable()?.length();
        for row in &rows {
            let from = bytes.len();
            row.write(&mut bytes);
            marks.push(Mark {
                revision: row.revision(),
                settled: false,
                offset: start + u64::try_from(from).unwrap_or(u64::MAX),
                length: bytes.len() - from,
            });
        }
        let written = self.write(&bytes, staged);
        match &written {
            Ok(_) => {
                self.marks.extend(marks);
                self.newest = rows.into_iter().next_back().or(self.newest.take());
                (self.settled, self.damaged_last) = (false, 0);
            }
            Err(_) => {
                self.unwanted = Some(start);
                // If the cut fails now, it is repeated before the next write.
                drop(self.cut_remains());
            }
        }
        written
    }

    fn write<S: Stage>(&mut self, bytes: &[u8], staged: Option<S>) -> Result<Option<S::CommittedFile>, DiskError> {
        let appender = self.writable()?;
        appender.append(bytes)?;
        match staged {
            Some(staged) => {
                appender.sync_in_parallel(|| staged.sync())?;
                staged.commit().map(Some)
            }
            None => appender.sync().map(|()| None),
        }
    }

    /// Cuts off the remains of a failed write, or an incomplete last line.
    fn cut_remains(&mut self) -> Result<(), DiskError> {
        let torn = self.appender.as_ref().filter(|_| self.torn > 0).map(|appender| appender.length() - self.torn);
        if let Some(end) = self.unwanted.or(torn) {
            self.writable()?.cut(end)?;
            (self.unwanted, self.torn) = (None, 0);
        }
        Ok(())
    }

    /// Whether no remains of a failed write are left.
    pub(crate) const fn has_no_remains(&self) -> bool {
        self.unwanted.is_none()
    }

    fn writable(&mut self) -> Result<&mut Appender, DiskError> {
        match self.appender.take() {
            Some(appender) if appender.is_writable() => Ok(self.appender.insert(appender)),
            other => {
                // The read-only handle stays until the file is open for writing.
                self.appender = other;
                folder::create(self.path.parent().unwrap_or(Path::new(".")))?;
                Ok(self.appender.insert(Appender::open(&self.path)?))
            }
        }
    }

    /// Records that the file is in place and durable at the newest revision.
    ///
    /// # Errors
    /// The note can't be written or synced.
    pub(crate) fn flush(&mut self) -> Result<(), DiskError> {
        if self.settle()? {
            let appender = self.writable()?;
            appender.sync()?;
            appender.release()?;
        }
        Ok(())
    }

    /// Like `flush`, but without a sync: the note survives a killed process, but maybe not a power cut. Returns whether
    /// there was anything to record.
    ///
    /// # Errors
    /// The note can't be written.
    pub(crate) fn settle(&mut self) -> Result<bool, DiskError> {
        let Some(newest) = self.newest.as_ref().filter(|_| !self.settled) else { return Ok(false) };
        let revision = newest.revision();
        self.cut_remains()?;
        let mut bytes = Vec::new();
        write_settled(revision, &mut bytes);
        self.writable()?.append(&bytes)?;
        self.settled = true;
        self.marks.back_mut().into_iter().for_each(|mark| mark.settled = true);
        Ok(true)
    }

    /// Whether the last line says that the newest revision is in place.
    pub(crate) const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.appender.as_ref().map_or(0, Appender::length)
    }

    /// Whether the journal has at least twice as many rows as must be kept.
    pub(crate) fn is_long(&self, keep: usize) -> bool {
        self.marks.len() >= keep.saturating_mul(2).max(2)
    }

    /// Shortens the journal to the rows from index `from` on. The row `first`, if given, replaces the removed ones. A
    /// damaged journal is also kept under another name.
    ///
    /// # Errors
    /// A step failed. The journal is then unchanged.
    pub(crate) fn shorten(&mut self, from: usize, first: Option<&R>, seconds: u64) -> Result<(), DiskError> {
        self.cut_remains()?;
        let Some(appender) = &self.appender else { return Ok(()) };
        let Some(kept) = self.marks.get(from) else { return Ok(()) };
        if self.damaged > 0 {
            let mut aside = self.path.clone().into_os_string();
            aside.push(format!(".damaged.{seconds}"));
            file::hard_link_as(&self.path, Path::new(&aside))?;
            tracing::warn!("the damaged journal is kept as {}", aside.display());
        }
        let mut head = Vec::new();
        first.into_iter().for_each(|row| row.write(&mut head));
        file::replace_with(&self.path, TEMPORARY, |out| {
            out.write_all(&head)?;
            appender.copy_from(kept.offset, out)
        })?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

impl Journal {
    /// Replaces all rows by others of the same revisions.
    ///
    /// # Errors
    /// A step failed. The journal is then unchanged.
    pub(crate) fn rewrite(&mut self, rows: &[Row]) -> Result<(), DiskError> {
        let settled: Vec<bool> = self.marks.iter().map(|mark| mark.settled).collect();
        file::replace_with(&self.path, TEMPORARY, |out| {
            for (row, is_settled) in rows.iter().zip(settled) {
                let mut line = Vec::new();
                row.write(&mut line);
                if is_settled {
                    write_settled(row.revision, &mut line);
                }
                out.write_all(&line)?;
            }
            Ok(())
        })?;
        *self = Self::open(&self.path)?;
        Ok(())
    }

    /// Shortens the journal to its newest `keep` rows if it has at least twice as many.
    ///
    /// # Errors
    /// As [`Journal::shorten`].
    pub(crate) fn compact(&mut self, keep: usize, seconds: u64) -> Result<(), DiskError> {
        if !self.is_long(keep) {
            return Ok(());
        }
        self.shorten(self.marks.len().saturating_sub(keep), None, seconds)
    }

    /// Returns the change that made a revision; `None` if it is not kept.
    ///
    /// # Errors
    /// The row can't be read any more.
    pub(crate) fn row_of(&self, revision: u64) -> Result<Option<Row>, DiskError> {
        let found = self.marks.binary_search_by_key(&revision, |mark| mark.revision);
        found.ok().map(|at| self.row_at(&self.marks[at])).transpose()
    }

    /// Returns the entries at a revision, or `None` if the journal does not have it.
    ///
    /// # Errors
    /// A row can't be read any more.
    pub(crate) fn entries_at(&self, revision: u64) -> Result<Option<Arc<[Entry]>>, DiskError> {
        if let Ok(at) = self.marks.binary_search_by_key(&revision, |mark| mark.revision) {
            return self.row_at(&self.marks[at]).map(|row| Some(row.after));
        }
        match self.marks.front() {
            Some(oldest) if oldest.revision.checked_sub(1) == Some(revision) => {
                self.row_at(oldest).map(|row| Some(row.before))
            }
            _ => Ok(None),
        }
    }
}

/// The index of a journal, built line by line.
#[derive(Default)]
struct Index {
    marks: VecDeque<Mark>,
    damaged: u64,
    damaged_last: u64,
    settled: bool,
    torn: u64,
    offset: u64,
}

impl Index {
    fn take(&mut self, line: &[u8]) {
        let offset = self.offset;
        self.offset += u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.torn > 0 {
            // The piece before belongs to a line that is too long.
            (self.damaged, self.damaged_last, self.torn) = (self.damaged + 1, self.damaged_last + 1, 0);
        }
        if line.last() != Some(&b'\n') {
            self.torn += self.offset - offset;
            return;
        }
        match read_head(line) {
            Some(Head::Row(row)) if self.marks.back().is_none_or(|last| last.revision < row.revision) => {
                self.marks.push_back(Mark { revision: row.revision, settled: false, offset, length: line.len() });
                (self.settled, self.damaged_last) = (false, 0);
            }
            Some(Head::Settled(revision)) => {
                let last = self.marks.back_mut().filter(|last| last.revision == revision);
                self.settled = last.is_some();
                last.into_iter().for_each(|mark| mark.settled = true);
            }
            Some(Head::Row(_)) | None if line.iter().all(u8::is_ascii_whitespace) => {}
            Some(Head::Row(_)) | None => {
                self.damaged += 1;
                self.damaged_last += 1;
                self.settled = false;
            }
        }
    }
}

#[cfg(test)]
mod tests;
