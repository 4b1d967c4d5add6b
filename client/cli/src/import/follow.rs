//! Files of JSON lines, to which programs add.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_transcripts::{Transcript, UNFINISHED, is_blank, is_complete};

use super::sink::{Sink, Taken};
use crate::lines;

/// Bytes of a line that is read; a longer one is left out.
const LINE: u64 = 64 << 20;

/// Bytes before the place where reading goes on that are compared.
const TAIL: usize = 64;

/// Files that stay open while they are watched.
const OPEN: usize = 64;

/// How often a file is read from its beginning because what was imported of it is no more the same.
const TRIES: usize = 16;

/// Reads files of lines, and goes on where it was.
#[derive(Debug, Default)]
pub(super) struct Follower {
    /// Those that grew.
    open: HashMap<PathBuf, Followed>,
    /// Those that were read once.
    seen: HashSet<PathBuf>,
}

/// A file as far as it was read.
#[derive(Debug)]
struct Followed {
    inode: u64,
    /// Bytes that were read.
    end: u64,
    /// The last of them, by which it is seen that another file took their place.
    tail: Vec<u8>,
    reader: Box<dyn Transcript>,
}

impl Follower {
    /// Takes in what is new in a file; `seen` is told bytes of it, and messages of the whole run.
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
            let mut followed = known.unwrap_or_else(|| Followed::new(path, reader));
            match followed.read_on(path, sink, seen)? {
                Taken::Well => {
                    if sink.is_watching() {
                        self.keep(path, followed, has_grown);
                    }
                    return Ok(true);
                }
                Taken::ReadAgain => {}
            }
        }
        Err(Failure::File(format!("{}: it changes while it is read; try again later", path.display())))
    }

    /// Keeps the reader of a file that grows: one that was read twice.
    fn keep(&mut self, path: &Path, followed: Followed, has_grown: bool) {
        if !has_grown {
            self.seen.insert(path.to_owned());
            return;
        }
        if self.open.len() >= OPEN {
            // Any of them: those that still grow come back.
            let other = self.open.keys().next().cloned();
            drop(other.and_then(|path| self.open.remove(&path)));
        }
        self.open.insert(path.to_owned(), followed);
    }
}

impl Followed {
    /// A file of which nothing was read.
    fn new(path: &Path, reader: fn(&str) -> Box<dyn Transcript>) -> Self {
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("unnamed");
        Self { inode: 0, end: 0, tail: Vec::new(), reader: reader(name) }
    }

    fn read_on(&mut self, path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<Taken, Failure> {
        let failed = |error: io::Error| Failure::File(format!("{}: {error}", path.display()));
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if self.end > 0 && (metadata.len() < self.end || metadata.ino() != self.inode) {
            return Ok(Taken::ReadAgain);
        }
        self.inode = metadata.ino();
        let mut there = vec![0; self.tail.len()];
        file.seek(SeekFrom::Start(self.end - there.len() as u64)).map_err(failed)?;
        file.read_exact(&mut there).map_err(failed)?;
        if there != self.tail {
            return Ok(Taken::ReadAgain);
        }
        let mut source = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        while self.line(&mut source, &mut line).map_err(failed)? {
            for session in self.reader.sessions() {
                if sink.take(path, session, false)? == Taken::ReadAgain {
                    return Ok(Taken::ReadAgain);
                }
            }
            seen(self.end, sink.report.messages());
        }
        let mut left_out = self.reader.ignored();
        // A watched file may get the rest of the line.
        if !sink.is_watching() && !is_blank(&String::from_utf8_lossy(&line)) {
            left_out.add(UNFINISHED);
        }
        for session in self.reader.sessions() {
            if sink.take(path, session, true)? == Taken::ReadAgain {
                return Ok(Taken::ReadAgain);
            }
        }
        sink.report.left_out(&left_out);
        Ok(Taken::Well)
    }

    /// Reads a line; false at the end. A last line is read once it is whole.
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
