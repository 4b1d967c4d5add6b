//! Files of JSON lines that only grow.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_transcripts::{Transcript, UNFINISHED, is_blank, is_complete};

use super::sink::{ImportOutcome, Sink};
use crate::lines;

/// The longest line in bytes. A longer one is skipped.
const LINE: u64 = 64 << 20;

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
    /// The last bytes before `end`. They differ if another file replaced this one.
    tail: Vec<u8>,
    reader: Box<dyn Transcript>,
}

impl Follower {
    /// Imports the new lines of a file. Calls `seen` with the bytes read in this file and the messages of the whole
    /// run.
    pub(super) fn read(
        &mut self,
        path: &Path,
        reader: fn(&str) -> Box<dyn Transcript>,
        sink: &mut Sink<'_>,
        seen: &mut dyn FnMut(u64, u64),
    ) -> Result<bool, Failure> {
        for _ in 0..TRIES {
            let known = self.open.remove(path);
            let has_grown = known.is_some() || self.seen.contains(path);
            let mut followed = known.unwrap_or_else(|| FilePosition::new(path, reader));
            match followed.read_on(path, sink, seen)? {
                ImportOutcome::Done => {
                    if sink.is_watching() {
                        self.keep(path, followed, has_grown);
                    }
                    return Ok(true);
                }
                ImportOutcome::Restart => {}
            }
        }
        Err(Failure::File(format!("{}: it changes while it is read; try again later", path.display())))
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

/// The name that Copilot CLI gives the file of every session. The folder has the session's id.
const SAME: &str = "events";

/// Returns the name of a session's file, or of its folder.
fn name_of(path: &Path) -> Option<&OsStr> {
    let name = path.file_stem()?;
    if name == SAME { path.parent()?.file_name() } else { Some(name) }
}

impl FilePosition {
    /// Creates a reader of a file from its beginning.
    fn new(path: &Path, reader: fn(&str) -> Box<dyn Transcript>) -> Self {
        let name = name_of(path).and_then(OsStr::to_str).unwrap_or("unnamed");
        Self { inode: 0, end: 0, tail: Vec::new(), reader: reader(name) }
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
        for session in self.reader.sessions() {
            if sink.take(path, session, true)? == ImportOutcome::Restart {
                return Ok(ImportOutcome::Restart);
            }
        }
        sink.report.left_out(&left_out);
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
            self.reader.line(text);
        }
        Ok(true)
    }
}
