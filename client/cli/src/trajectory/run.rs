//! `herma trajectory compress`: a whole run.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_base::progress::Progress;
use herma_base::{CliContext, Common, Failure, out, user_file};
use herma_client::protocol::trajectory::CompressParams;
use herma_client::protocol::{Json, limits};
use serde::Deserialize;
use serde_json::json;

use super::Arguments;
use super::files::Files;
use super::line::{LineOptions, LineOutcome};
use super::pipeline::{self, Item, Next, Sample};
use super::place::{Mark, RunFiles, Sums};
use super::report::{self, PROBLEMS, Planned, Problem, Report};
use super::tokens::Counter;

/// The most problems that are printed as they happen.
const TOLD: u64 = 20;

/// The values in force that the command needs.
#[derive(Debug, Deserialize)]
struct InForce {
    compression: Compression,
    output: Output,
    processing: Processing,
    metrics: Metrics,
}

#[derive(Debug, Deserialize)]
struct Compression {
    target_max_tokens: u64,
}

#[derive(Debug, Deserialize)]
struct Output {
    output_suffix: String,
}

#[derive(Debug, Deserialize)]
struct Processing {
    num_workers: usize,
    save_over_limit: bool,
    per_trajectory_timeout: u64,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    enabled: bool,
    per_trajectory: bool,
    output_file: String,
}

pub(super) fn compress(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (config, in_force) = configured(context, arguments)?;
    let files = Files::find(&arguments.input, arguments.output.as_deref(), &in_force.output.output_suffix)?;
    let counter = arguments.tokenizer.as_deref().map(Counter::open).transpose()?;
    let metrics = metrics_file(arguments, &in_force.metrics, &files);
    let identity = identity(arguments, &files, &config);
    let timeout = context.common.timeout.unwrap_or(in_force.processing.per_trajectory_timeout);
    let jobs = arguments.jobs.map_or(in_force.processing.num_workers, |jobs| usize::try_from(jobs).unwrap_or(1));
    let manner = LineOptions {
        config,
        summarizer: arguments.summarizer.clone(),
        counter,
        is_dry: arguments.dry_run,
        timeout: Duration::from_secs(timeout),
        target: in_force.compression.target_max_tokens,
        tells_metrics: in_force.metrics.enabled && in_force.metrics.per_trajectory,
        saves_over_limit: in_force.processing.save_over_limit,
    };
    let (place, mut mark) = if arguments.dry_run {
        (None, Mark::default())
    } else {
        let (place, mark) = RunFiles::open(&files, &identity, arguments.force)?;
        (Some(place), mark)
    };
    if mark.sums.started == 0.0 {
        mark.sums.started = now();
    }
    let sample = arguments.sample.map(|fraction| Sample { fraction, seed: arguments.seed });
    let from = mark.clone();
    let mut taker = ResultWriter::new(context.common, &files, place, mark);
    pipeline::run(context, &manner, &files, &from, jobs, sample, |next| taker.take(next))?;
    taker.progress.clear();
    let ResultWriter { place, mark, problems, .. } = taker;
    let sums = mark.sums;
    let report = Report {
        input: &arguments.input,
        output: place.is_some().then_some(files.output.as_path()),
        metrics: metrics.as_deref(),
        dry_run: arguments.dry_run,
        counted_by: arguments.tokenizer.as_ref().map_or_else(|| "script".to_owned(), |path| path.display().to_string()),
        aggregate: sums.totals.aggregate(sums.started, now()),
        passed_through: sums.passed,
        over_limit_left_out: sums.left_out,
        timed_out: sums.timed_out,
        failed: sums.failed,
        planned: arguments.dry_run.then(|| Planned::of(&sums)),
        problems: &problems,
    };
    if let Some(path) = &metrics {
        let text = serde_json::to_string_pretty(&report.aggregate).map_err(|error| Failure::File(error.to_string()))?;
        user_file::write(path, format!("{text}\n"))?;
    }
    if let Some(place) = place {
        place.close()?;
    }
    out::show(context.common, &report, report::text)?;
    if sums.failed + sums.timed_out > 0 { Err(Failure::No) } else { Ok(()) }
}

/// Returns the configuration in force. The daemon provides it, and refuses a wrong one.
fn configured(context: &CliContext<'_>, arguments: &Arguments) -> Result<(Json, InForce), Failure> {
    let yaml = arguments.config.as_deref().map(out::read_input).transpose()?;
    let config = yaml.map(|yaml| Json::from_value(&yaml)).transpose();
    let params = CompressParams {
        config: config.map_err(|error| Failure::File(error.to_string()))?,
        summarizer: arguments.summarizer.clone(),
        dry_run: Some(true),
        ..CompressParams::default()
    };
    let result = context.connect()?.trajectory_compress(params)?;
    let in_force = serde_json::from_str(result.config.get())
        .map_err(|error| Failure::File(format!("the daemon's configuration: {error}")))?;
    Ok((result.config, in_force))
}

/// Returns the file for the metrics, if they are written.
fn metrics_file(arguments: &Arguments, metrics: &Metrics, files: &Files) -> Option<PathBuf> {
    if arguments.dry_run {
        return None;
    }
    arguments.metrics.clone().or_else(|| {
        let beside = if files.is_folder {
            files.output.join(&metrics.output_file)
        } else {
            files.output.with_file_name(&metrics.output_file)
        };
        metrics.enabled.then_some(beside)
    })
}

/// Returns the properties that a resumed run must have in common with the stopped one.
fn identity(arguments: &Arguments, files: &Files, config: &Json) -> String {
    let stamps: Vec<_> = files.files.iter().map(|file| &file.stamp).collect();
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let identity = json!({
        "inputs": stamps, "config": config.get(), "summarizer": arguments.summarizer,
        "tokenizer": arguments.tokenizer.as_deref().map(whole),
        "sample": arguments.sample, "seed": arguments.seed,
    });
    identity.to_string()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Receives the results of the lines, in their order.
struct ResultWriter<'a> {
    common: &'a Common,
    files: &'a Files,
    place: Option<RunFiles>,
    mark: Mark,
    progress: Progress,
    /// The lines of this run.
    lines: u64,
    problems: Vec<Problem>,
    shown: u64,
}

impl<'a> ResultWriter<'a> {
    fn new(common: &'a Common, files: &'a Files, place: Option<RunFiles>, mark: Mark) -> Self {
        let from = files.size_before(mark.file) + mark.input;
        let progress = Progress::new(common.shows_progress(), from, files.size(), "line");
        Self { common, files, place, mark, progress, lines: 0, problems: Vec::new(), shown: 0 }
    }

    fn take(&mut self, next: Next) -> Result<(), Failure> {
        match next {
            Next::Waiting => {}
            Next::Item(Item::End) => match &mut self.place {
                Some(place) => place.end_file(&mut self.mark, self.files)?,
                None => (self.mark.file, self.mark.input) = (self.mark.file + 1, 0),
            },
            Next::Item(Item::Line { file, number, end, text, done }) => {
                match done {
                    LineOutcome::TooLong { start } => self.long_line(file, number, start..end)?,
                    done => self.line(file, number, &text, done)?,
                }
                (self.mark.input, self.mark.line) = (end, number);
                self.lines += 1;
                if let Some(place) = &mut self.place {
                    place.mark(&self.mark)?;
                }
            }
        }
        self.progress.draw(self.files.size_before(self.mark.file) + self.mark.input, self.lines);
        Ok(())
    }

    fn line(&mut self, file: usize, number: u64, text: &[u8], done: LineOutcome) -> Result<(), Failure> {
        match done {
            LineOutcome::Nothing | LineOutcome::TooLong { .. } => Ok(()),
            LineOutcome::Passed => {
                self.sums().passed += 1;
                self.write(text)
            }
            LineOutcome::Trajectory { row, line, planned } => {
                let sums = self.sums();
                sums.totals.add(&row);
                sums.planned = (sums.planned.0 + u64::from(planned > 0), sums.planned.1 + planned);
                self.write(line.as_ref().map_or(text, String::as_bytes))
            }
            LineOutcome::LeftOut { row } => {
                let sums = self.sums();
                sums.totals.add(&row);
                sums.left_out += 1;
                Ok(())
            }
            LineOutcome::TimedOut { why } => {
                let sums = self.sums();
                sums.totals.add_failed();
                sums.timed_out += 1;
                self.problem(file, number, format!("{why}; left out"));
                Ok(())
            }
            LineOutcome::Failed { why } => {
                let sums = self.sums();
                sums.totals.add_failed();
                sums.failed += 1;
                self.problem(file, number, format!("{why}; kept as it is"));
                self.write(text)
            }
        }
    }

    /// Copies a line that is too long to compress. It is never in memory as a whole.
    fn long_line(&mut self, file: usize, number: u64, bytes: Range<u64>) -> Result<(), Failure> {
        let sums = self.sums();
        sums.totals.add_failed();
        sums.failed += 1;
        self.problem(file, number, format!("longer than {}; kept as it is", out::size(limits::FRAME as u64)));
        let Some(input) = self.files.files.get(file).map(|file| &file.input) else { return Ok(()) };
        match &mut self.place {
            Some(place) => place.copy(input, bytes, &mut self.mark),
            None => Ok(()),
        }
    }

    const fn sums(&mut self) -> &mut Sums {
        &mut self.mark.sums
    }

    fn write(&mut self, line: &[u8]) -> Result<(), Failure> {
        match &mut self.place {
            Some(place) => place.write(line, &mut self.mark),
            None => Ok(()),
        }
    }

    fn problem(&mut self, file: usize, line: u64, message: String) {
        let file = self.files.files.get(file).map(|file| file.input.display().to_string()).unwrap_or_default();
        self.shown += 1;
        if self.shown <= TOLD && !self.common.json {
            self.progress.clear();
            out::problem(self.common, &format!("{file}:{line}: {}", out::cut(&message, 200)));
            if self.shown == TOLD {
                out::note(self.common, "further lines are only counted; --json lists more");
            }
        }
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { file, line, message });
        }
    }
}
