//! Files of JSON lines that only grow.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_base::Failure;
use herma_transcripts::{Session, Transcript, UNFINISHED, is_blank, is_complete};

use super::sink::{ImportOutcome, Sink};
use super::whole;
use crate::lines;

/// The longest line in bytes. A longer one is skipped.
const LINE: u64 = 64 << 20;

/// How long nothing was added to a file whose last message is whole.
const OVER: Duration = Duration::from_secs(10);

/// How long a file that was just written is watched, if its last message may go on: an answer grows several times a
/// second.
const QUIET: Duration = Duration::from_millis(1_500);

/// The bytes before the read position that are compared.
const TAIL: usize = 64;

/// The most files that stay open while they are watched.
const OPEN: usize = 64;

/// How often a file is read from its beginning because its imported messages have changed.
const TRIES: usize = 16;

/// Reads files of lines, and continues where it stopped.
#[derive(Debug, Default)]
pub(super) struct Follower {
    /// Readers of files that grew since they were first read.
    open: HashMap<PathBuf, FilePosition>,
    /// Files that were read once.
    seen: HashSet<PathBuf>,
}

/// A file and its read position.
#[derive(Debug)]
struct FilePosition {
    inode: u64,
    /// The read position in bytes.
    end: u64,
    /// The number of lines that were read, without the empty ones.
    lines: u64,
    /// The last bytes before `end`. They differ if another file replaced this one.
    tail: Vec<u8>,
    reader: Box<dyn Transcript>,
    /// Whether nothing of what was read waits for its end.
    is_whole: bool,
}

impl Follower {
    /// Imports the new lines of a file. Calls `seen` with the bytes read in this file and the messages of the whole
    /// run.
    pub(super) fn read(
        &mut self,
        path: &Path,
        reader: &dyn Fn() -> Box<dyn Transcript>,
        sink: &mut Sink<'_>,
        seen: &mut dyn FnMut(u64, u64),
    ) -> Result<bool, Failure> {
        for _ in 0..TRIES {
            let known = self.open.remove(path);
            let has_grown = known.is_some() || self.seen.contains(path);
            let mut followed = known.unwrap_or_else(|| FilePosition::new(reader()));
            match followed.read_on(path, sink, seen)? {
                ImportOutcome::Done => {
                    let is_whole = followed.is_whole;
                    if sink.is_watching() {
                        self.keep(path, followed, has_grown);
                    }
                    return Ok(is_whole);
                }
                ImportOutcome::Restart => {}
            }
        }
        Err(whole::changes(path))
    }

    /// Keeps the reader of a file that grows, which is one that was read twice.
    fn keep(&mut self, path: &Path, followed: FilePosition, has_grown: bool) {
        if !has_grown {
            self.seen.insert(path.to_owned());
            return;
        }
        if self.open.len() >= OPEN {
            // Any file is closed. If it still grows, it is opened again.
            let other = self.open.keys().next().cloned();
            drop(other.and_then(|path| self.open.remove(&path)));
        }
        self.open.insert(path.to_owned(), followed);
    }
}

/// Returns whether nothing is added to a file for a moment.
fn is_quiet(path: &Path, length: u64) -> bool {
    std::thread::sleep(QUIET);
    std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == length)
}

impl FilePosition {
    /// Creates a reader of a file from its beginning.
    const fn new(reader: Box<dyn Transcript>) -> Self {
        Self { inode: 0, end: 0, lines: 0, tail: Vec::new(), reader, is_whole: true }
    }

    fn read_on(
        &mut self,
        path: &Path,
        sink: &mut Sink<'_>,
        seen: &mut dyn FnMut(u64, u64),
    ) -> Result<ImportOutcome, Failure> {
        let failed = |error: io::Error| Failure::File(format!("{}: {error}", path.display()));
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if self.end > 0 && (metadata.len() < self.end || metadata.ino() != self.inode) {
            return Ok(ImportOutcome::Restart);
        }
        self.inode = metadata.ino();
        let mut there = vec![0; self.tail.len()];
        file.seek(SeekFrom::Start(self.end - there.len() as u64)).map_err(failed)?;
        file.read_exact(&mut there).map_err(failed)?;
        if there != self.tail {
            return Ok(ImportOutcome::Restart);
        }
        let is_first = self.end == 0;
        let mut source = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        while self.line(&mut source, &mut line).map_err(failed)? {
            for session in self.reader.sessions() {
                if sink.take(path, session, false)? == ImportOutcome::Restart {
                    return Ok(ImportOutcome::Restart);
                }
            }
            seen(self.end, sink.report.messages());
        }
        let mut left_out = self.reader.ignored();
        // The rest of the line may still be written to a watched file.
        if !sink.is_watching() && !is_blank(&String::from_utf8_lossy(&line)) {
            left_out.add(UNFINISHED);
        }
        if !self.reader.end(false) {
            let age = metadata.modified().ok().and_then(|modified| modified.elapsed().ok());
            let is_old = age.is_some_and(|age| age > OVER);
            self.is_whole = self.reader.end(is_old || (!sink.is_watching() && is_quiet(path, metadata.len())));
        }
        for session in self.reader.sessions() {
            if sink.take(path, session, true)? == ImportOutcome::Restart {
                return Ok(ImportOutcome::Restart);
            }
        }
        sink.report.left_out(&left_out);
        if is_first
            && left_out.torn() == self.lines
            && self.lines > 0
            && self.reader.sessions().iter().all(Session::is_empty)
        {
            sink.report.torn_file();
            self.is_whole = false;
        }
        Ok(ImportOutcome::Done)
    }

    /// Reads a line, and returns false at the end. An incomplete last line is read once it is complete.
    fn line(&mut self, source: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let read = source.take(LINE + 1).read_until(b'\n', line)? as u64;
        let is_ended = line.last() == Some(&b'\n');
        if read > LINE {
            self.end += read + lines::skip_line(source, line.last())?;
            self.tail.clear();
            self.reader.line("\"a line that is too long\"");
            return Ok(true);
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if read == 0 || (!is_ended && !is_complete(text)) {
            return Ok(false);
        }
        self.end += read;
        self.tail = line.get(line.len().saturating_sub(TAIL)..).unwrap_or_default().to_vec();
        if !text.is_empty() {
            self.lines += 1;
            self.reader.line(text);
        }
        Ok(true)
    }
}
