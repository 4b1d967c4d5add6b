//! Samples the daemon every second.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The values at one moment. Sizes are in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample {
    pub(crate) second: u64,
    pub(crate) resident: u64,
    pub(crate) threads: u64,
    pub(crate) files: u64,
    pub(crate) archive: u64,
    pub(crate) outputs: u64,
    pub(crate) catalog: u64,
    pub(crate) journals: u64,
    pub(crate) log: u64,
    /// Size of all ledgers in bytes, as a measure of the work done.
    pub(crate) ledgers: u64,
    pub(crate) calm: u64,
}

/// Returns the value of a column.
type Cell = fn(&Sample) -> u64;

/// The names and values of the columns.
pub(crate) const COLUMNS: [(&str, Cell); 11] = [
    ("second", |sample| sample.second),
    ("resident_bytes", |sample| sample.resident),
    ("threads", |sample| sample.threads),
    ("files", |sample| sample.files),
    ("archive_bytes", |sample| sample.archive),
    ("outputs_bytes", |sample| sample.outputs),
    ("catalog_bytes", |sample| sample.catalog),
    ("journals_bytes", |sample| sample.journals),
    ("log_bytes", |sample| sample.log),
    ("ledgers_bytes", |sample| sample.ledgers),
    ("calm", |sample| sample.calm),
];

/// The observed daemon, and whether there is a calm.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) pid: AtomicU32,
    pub(crate) calm: AtomicU64,
}

/// Takes a sample every second until the soak stops.
pub(crate) fn run(home: &Path, out: &Path, watched: &Watched) -> Vec<Sample> {
    let (start, mut samples) = (Instant::now(), Vec::new());
    while !out.join("stop").exists() {
        samples.push(Sample {
            second: start.elapsed().as_secs(),
            calm: watched.calm.load(Ordering::Relaxed),
            ..sample(home, out, watched.pid.load(Ordering::Relaxed))
        });
        std::thread::sleep(Duration::from_secs(1));
    }
    samples
}

fn sample(home: &Path, out: &Path, pid: u32) -> Sample {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|value| value.parse().ok()).unwrap_or(0)
    };
    let herma = home.join("herma");
    Sample {
        resident: field("VmRSS:") << 10,
        threads: field("Threads:"),
        files: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |files| u64::try_from(files.count()).unwrap_or(0)),
        archive: sizes(&herma, |name| name.starts_with("archive.db")),
        outputs: sizes(&herma.join("outputs"), |_| true),
        catalog: sizes(&herma, |name| name.starts_with("outputs.jsonl")),
        journals: sizes(&herma.join("journal"), |_| true),
        log: sizes(&herma, |name| name.contains("log")),
        ledgers: sizes(&out.join("ledgers"), |_| true),
        ..Sample::default()
    }
}

/// Returns the bytes of the entries of a folder whose names match. Subfolders count as a whole.
fn sizes(folder: &Path, is_meant: fn(&str) -> bool) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_meant)).map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => sizes(&entry.path(), |_| true),
            Ok(found) => found.len(),
            Err(_) => 0,
        });
    sizes.sum()
}

/// Formats the samples as comma-separated values.
pub(crate) fn csv(samples: &[Sample]) -> String {
    let line = |cells: Vec<String>| format!("{}\n", cells.join(","));
    let head = line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect());
    let rows = samples.iter().map(|sample| line(COLUMNS.iter().map(|(_, cell)| cell(sample).to_string()).collect()));
    std::iter::once(head).chain(rows).collect()
}
