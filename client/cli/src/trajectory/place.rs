//! The output files of a run, which can be stopped at any moment and resumed.
//!
//! Lines go to `OUT.partial`, which is renamed to `OUT` when it is complete. `OUT.progress` has a line for each record
//! of the run's progress. When the run is resumed, output after the last record is cut off.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::{Failure, user_file};
use herma_client::protocol::trajectory::metrics::Totals;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::files::Files;

/// The time between two records.
const PAUSE: Duration = Duration::from_millis(200);

/// The bytes that are read at the beginning and at the end of the records. One record is shorter.
const RECORDS: u64 = 1 << 20;

/// The progress of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// The index of the current file, or the number of files when all are done.
    pub(super) file: usize,
    /// The bytes read from it.
    pub(super) input: u64,
    /// The lines read from it.
    pub(super) line: u64,
    /// The bytes of its partial output.
    pub(super) output: u64,
    /// The sums of all lines so far.
    pub(super) sums: Sums,
}

/// The sums of the results of all lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    /// The start of the run, in Unix seconds.
    pub(super) started: f64,
    pub(super) totals: Totals,
    /// The lines without a conversation.
    pub(super) passed: u64,
    /// The trajectories that are still over the target and were not written.
    pub(super) left_out: u64,
    pub(super) timed_out: u64,
    pub(super) failed: u64,
    /// The trajectories and the turns that a dry run would replace.
    pub(super) planned: (u64, u64),
}

/// The output files of a run.
#[derive(Debug)]
pub(super) struct RunFiles {
    files: Vec<PathBuf>,
    progress: PathBuf,
    records: File,
    partial: Option<BufWriter<File>>,
    marked: Instant,
}

impl RunFiles {
    /// Creates the files, or opens those of a stopped run and returns its progress. `identity` identifies the run. With
    /// `is_fresh_start`, earlier output is discarded.
    pub(super) fn open(files: &Files, identity: &str, is_fresh_start: bool) -> Result<(Self, Mark), Failure> {
        if files.is_folder {
            user_file::create_folder(&files.output)?;
        }
        let progress = named(&files.output, "progress");
        let outputs: Vec<PathBuf> = files.files.iter().map(|file| file.output.clone()).collect();
        let mut records = user_file::open(&progress)?;
        flock(&records, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| Failure::File(format!("{}: another run is at work on it", files.output.display())))?;
        let found = found(&mut records, &progress)?;
        let mark = match found {
            Some((known, mark)) if !is_fresh_start => {
                if known != identity {
                    let words = "there is a run that was stopped, of other inputs or settings; resume it with those, or start over with --force";
                    return Err(Failure::File(format!("{}: {words}", progress.display())));
                }
                mark
            }
            _ => {
                if let Some(there) = outputs.iter().find(|path| path.exists()).filter(|_| !is_fresh_start) {
                    drop(user_file::remove(&progress));
                    return Err(Failure::File(format!("{} exists; --force overwrites it", there.display())));
                }
                begin(&mut records, identity).map_err(|error| failed(&progress, &error))?;
                Mark::default()
            }
        };
        let mut place = Self { files: outputs, progress, records, partial: None, marked: Instant::now() };
        let mark = place.go_on(mark, files)?;
        Ok((place, mark))
    }

    /// Opens the partial output at the mark.
    fn go_on(&mut self, mut mark: Mark, files: &Files) -> Result<Mark, Failure> {
        let Some(output) = self.files.get(mark.file) else { return Ok(mark) };
        let partial = named(output, "partial");
        let size = files.files.get(mark.file).map_or(0, |file| file.stamp.size);
        // The partial file was renamed to the output, but the record of that was not written.
        if mark.input == size && mark.input > 0 && !partial.exists() && output.exists() {
            mark = next_file(mark);
            self.record(&mark)?;
            return self.go_on(mark, files);
        }
        let mut file = user_file::open(&partial)?;
        let length = file.metadata().map_err(|error| failed(&partial, &error))?.len();
        if length < mark.output {
            let words = "the output of the stopped run is missing; start over with --force";
            return Err(Failure::File(format!("{}: {words}", partial.display())));
        }
        file.set_len(mark.output)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|error| failed(&partial, &error))?;
        self.partial = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(mark)
    }

    /// Writes a line.
    pub(super) fn write(&mut self, line: &[u8], mark: &mut Mark) -> Result<(), Failure> {
        let Some(partial) = &mut self.partial else { return Ok(()) };
        let written = partial.write_all(line).and_then(|()| partial.write_all(b"\n"));
        written.map_err(|error| self.failed(mark, &error))?;
        mark.output += line.len() as u64 + 1;
        Ok(())
    }

    /// Copies a line from a file without reading all of it into memory.
    pub(super) fn copy(&mut self, input: &Path, bytes: Range<u64>, mark: &mut Mark) -> Result<(), Failure> {
        let Some(partial) = &mut self.partial else { return Ok(()) };
        let mut source = File::open(input).map_err(|error| failed(input, &error))?;
        let positioned = source.seek(SeekFrom::Start(bytes.start)).map_err(|error| failed(input, &error));
        let length = bytes.end - bytes.start;
        let copied = positioned.map(|_| io::copy(&mut Read::by_ref(&mut source).take(length), partial))?;
        let mut last = [0];
        let ended = match copied {
            Ok(copied) if copied < length => {
                return Err(Failure::File(format!("{}: it was cut while it was read", input.display())));
            }
            Ok(_) => source.seek(SeekFrom::Current(-1)).and_then(|_| source.read_exact(&mut last)),
            Err(error) => Err(error),
        };
        // The last line of a file may lack a line break. Every line of an output has one.
        let is_ended = last == *b"\n";
        let ended = ended.and_then(|()| if is_ended { Ok(()) } else { partial.write_all(b"\n") });
        ended.map_err(|error| self.failed(mark, &error))?;
        mark.output += length + u64::from(!is_ended);
        Ok(())
    }

    /// Records the progress if enough time has passed.
    pub(super) fn mark(&mut self, mark: &Mark) -> Result<(), Failure> {
        if self.marked.elapsed() < PAUSE {
            return Ok(());
        }
        self.settle(mark)?;
        self.record(mark)?;
        self.marked = Instant::now();
        Ok(())
    }

    /// Completes the output of a file, and begins the next one.
    pub(super) fn end_file(&mut self, mark: &mut Mark, files: &Files) -> Result<(), Failure> {
        self.settle(mark)?;
        self.record(mark)?;
        self.partial = None;
        if let Some(output) = self.files.get(mark.file) {
            user_file::rename(&named(output, "partial"), output)?;
        }
        *mark = next_file(mark.clone());
        self.record(mark)?;
        *mark = self.go_on(mark.clone(), files)?;
        Ok(())
    }

    /// Removes the records, because the run is complete.
    pub(super) fn close(self) -> Result<(), Failure> {
        Ok(user_file::remove(&self.progress)?)
    }

    fn settle(&mut self, mark: &Mark) -> Result<(), Failure> {
        let Some(partial) = &mut self.partial else { return Ok(()) };
        let settled = partial.flush().and_then(|()| partial.get_ref().sync_data());
        settled.map_err(|error| self.failed(mark, &error))
    }

    fn record(&mut self, mark: &Mark) -> Result<(), Failure> {
        let line = serde_json::to_string(mark).map_err(|error| Failure::File(error.to_string()))?;
        self.records.write_all(format!("{line}\n").as_bytes()).map_err(|error| failed(&self.progress, &error))
    }

    fn failed(&self, mark: &Mark, error: &io::Error) -> Failure {
        let path = self.files.get(mark.file).map_or_else(PathBuf::new, |output| named(output, "partial"));
        failed(&path, error)
    }
}

fn next_file(mark: Mark) -> Mark {
    Mark { file: mark.file + 1, input: 0, line: 0, output: 0, sums: mark.sums }
}

/// Returns the identity of the run that left records, and its last complete record.
fn found(records: &mut File, path: &Path) -> Result<Option<(String, Mark)>, Failure> {
    let (identity, last) = ends(records).map_err(|error| failed(path, &error))?;
    let Some(identity) = identity else { return Ok(None) };
    let mark = match last {
        None => Mark::default(),
        Some(line) => serde_json::from_str(&line)
            .map_err(|error| Failure::File(format!("{}: {error}; start over with --force", path.display())))?,
    };
    Ok(Some((identity, mark)))
}

/// Returns the first line and the last complete one after it. Anything after that is cut off.
fn ends(records: &mut File) -> io::Result<(Option<String>, Option<String>)> {
    let mut identity = Vec::new();
    BufReader::new(&mut *records).take(RECORDS).read_until(b'\n', &mut identity)?;
    if identity.pop() != Some(b'\n') {
        return Ok((None, None));
    }
    let (behind, length) = (identity.len() as u64 + 1, records.metadata()?.len());
    let from = behind.max(length.saturating_sub(RECORDS));
    let mut rest = Vec::new();
    records.seek(SeekFrom::Start(from))?;
    (&mut *records).take(RECORDS).read_to_end(&mut rest)?;
    let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    records.set_len(from + whole as u64)?;
    records.seek(SeekFrom::End(0))?;
    rest.truncate(whole);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let last = rest.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().filter(|line| !line.is_empty()).map(text);
    Ok((Some(text(&identity)), last))
}

fn begin(records: &mut File, identity: &str) -> io::Result<()> {
    records.set_len(0)?;
    records.seek(SeekFrom::Start(0))?;
    records.write_all(format!("{identity}\n").as_bytes())
}

/// Returns a path with an additional extension.
fn named(path: &Path, ending: &str) -> PathBuf {
    let path: PathBuf = path.components().collect();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    path.with_file_name(name)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}
