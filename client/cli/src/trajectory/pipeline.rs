//! Reads lines, lets several workers process them, and returns them in their order.

use std::collections::BTreeMap;
use std::fs::File as Source;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use herma_base::{CliContext, Failure};
use herma_client::protocol::limits;

use super::files::Files;
use super::line::{LineOptions, LineOutcome, Worker};
use super::place::Mark;
use super::window::Window;
use crate::lines;

/// The longest line in bytes. A longer one could not be sent, and stays unchanged.
const LINE: u64 = limits::FRAME as u64;

/// The lines in progress for each worker. With several, one slow line doesn't stop the others at once.
const UNDER_WAY: usize = 8;

/// How often the receiver is called without an item.
const LOOK: Duration = Duration::from_millis(200);

/// A random part of the lines. The same seed selects the same lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) fraction: f64,
    pub(super) seed: u64,
}

impl Sample {
    /// Returns whether the sample contains a line.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
    fn takes(self, file: usize, line: u64) -> bool {
        let place = (file as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ line;
        let mut mixed = self.seed.wrapping_add(place.wrapping_mul(0xD1B5_4A32_D192_ED03));
        for factor in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(factor);
        }
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64 <= self.fraction && self.fraction > 0.0
    }
}

/// An item of the output.
#[derive(Debug)]
pub(super) enum Item {
    /// A processed line, without its line break.
    Line {
        file: usize,
        /// The number of the line, from 1.
        number: u64,
        /// The position after the line, in bytes.
        end: u64,
        text: Vec<u8>,
        done: LineOutcome,
    },
    /// All lines of a file were returned.
    End,
}

/// The next event of a run.
#[derive(Debug)]
pub(super) enum Next {
    /// An item.
    Item(Item),
    /// There is no item for now.
    Waiting,
}

struct Job {
    sequence: u64,
    work: Work,
}

enum Work {
    Line { file: usize, number: u64, end: u64, text: Vec<u8>, is_taken: bool },
    Long { file: usize, number: u64, start: u64, end: u64, is_taken: bool },
    End,
}

type Answer = (u64, Result<Item, Failure>);

/// Processes all files from `mark` to the end. Calls `take` with the events in order.
pub(super) fn run(
    context: &CliContext<'_>,
    manner: &LineOptions,
    files: &Files,
    mark: &Mark,
    jobs: usize,
    sample: Option<Sample>,
    mut take: impl FnMut(Next) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let window = Window::new(jobs.saturating_mul(UNDER_WAY));
    let (give, wanted) = channel::<Job>();
    let wanted = Mutex::new(wanted);
    let (sender, answers) = channel::<Answer>();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (wanted, sender) = (&wanted, sender.clone());
            scope.spawn(move || work(wanted, &sender, Worker::new(context, manner)));
        }
        let window = &window;
        scope.spawn(move || {
            let mut sequence = 0;
            if let Err(failure) = read(files, mark, sample, window, &give, &mut sequence) {
                // The receiver is already gone.
                drop(sender.send((sequence, Err(failure))));
            }
        });
        let outcome = in_order(&answers, window, &mut take);
        window.close();
        // Lines in progress are useless now. The workers stop when the receiver is gone.
        drop(answers);
        outcome
    })
}

fn work(wanted: &Mutex<Receiver<Job>>, sender: &Sender<Answer>, mut worker: Worker<'_>) {
    loop {
        let job = wanted.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { sequence, work }) = job else { return };
        let answer = match work {
            Work::End => Ok(Item::End),
            Work::Long { file, number, start, end, is_taken } => {
                let done = if is_taken { LineOutcome::TooLong { start } } else { LineOutcome::Nothing };
                Ok(Item::Line { file, number, end, text: Vec::new(), done })
            }
            Work::Line { file, number, end, text, is_taken } => {
                let done = if is_taken { worker.work(&text) } else { Ok(LineOutcome::Nothing) };
                done.map(|done| Item::Line { file, number, end, text, done })
            }
        };
        let is_over = answer.is_err();
        if sender.send((sequence, answer)).is_err() || is_over {
            return;
        }
    }
}

/// Reads the lines and hands them out.
fn read(
    files: &Files,
    mark: &Mark,
    sample: Option<Sample>,
    window: &Window,
    give: &Sender<Job>,
    sequence: &mut u64,
) -> Result<(), Failure> {
    for (file, from) in files.files.iter().enumerate().skip(mark.file) {
        let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", from.input.display()));
        let (mut end, mut number) = if file == mark.file { (mark.input, mark.line) } else { (0, 0) };
        let mut source = Source::open(&from.input).map_err(failed)?;
        source.seek(SeekFrom::Start(end)).map_err(failed)?;
        let mut source = BufReader::with_capacity(1 << 18, source);
        loop {
            let mut text = Vec::new();
            let read = (&mut source).take(LINE + 1).read_until(b'\n', &mut text).map_err(failed)?;
            if read == 0 {
                break;
            }
            number += 1;
            let start = end;
            end += read as u64;
            let is_taken = sample.is_none_or(|sample| sample.takes(file, number));
            if read as u64 > LINE {
                end += lines::skip_line(&mut source, text.last()).map_err(failed)?;
                let work = Work::Long { file, number, start, end, is_taken };
                if !window.enter(0) || give.send(Job { sequence: *sequence, work }).is_err() {
                    return Ok(());
                }
                *sequence += 1;
                continue;
            }
            if text.last() == Some(&b'\n') {
                text.pop();
            }
            if !window.enter(text.len()) {
                return Ok(());
            }
            let work = Work::Line { file, number, end, text, is_taken };
            if give.send(Job { sequence: *sequence, work }).is_err() {
                return Ok(());
            }
            *sequence += 1;
        }
        if !window.enter(0) || give.send(Job { sequence: *sequence, work: Work::End }).is_err() {
            return Ok(());
        }
        *sequence += 1;
    }
    Ok(())
}

/// Receives the answers, and passes them on in the order of the lines.
fn in_order(
    answers: &Receiver<Answer>,
    window: &Window,
    take: &mut impl FnMut(Next) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut early, mut wanted) = (BTreeMap::new(), 0);
    loop {
        match answers.recv_timeout(LOOK) {
            Ok((sequence, answer)) => drop(early.insert(sequence, answer)),
            Err(RecvTimeoutError::Timeout) => take(Next::Waiting)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some(answer) = early.remove(&wanted) {
            let item = answer?;
            let bytes = if let Item::Line { text, .. } = &item { text.len() } else { 0 };
            take(Next::Item(item))?;
            window.leave(bytes);
            wanted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_and_is_the_same_each_time() {
        let taken = |fraction, seed| {
            let sample = Sample { fraction, seed };
            (0..10_000).filter(|line| sample.takes(0, *line)).collect::<Vec<u64>>()
        };
        let tenth = taken(0.1, 7);
        assert!((900..1_100).contains(&tenth.len()), "{}", tenth.len());
        assert_eq!(tenth, taken(0.1, 7));
        assert_ne!(tenth, taken(0.1, 8));
        assert_eq!(taken(1.0, 7).len(), 10_000);
    }
}
