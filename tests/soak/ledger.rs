//! The record of a process: one line of JSON for each attempt and for each answer of the daemon. Each line is one
//! write, so that a killed process leaves whole lines.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A ledger that is open for appending.
#[derive(Debug)]
pub(crate) struct Ledger(File);

impl Ledger {
    pub(crate) fn open(out: &Path, name: &str) -> Self {
        Self(File::options().create(true).append(true).open(path(out, name)).unwrap())
    }

    pub(crate) fn note(&mut self, kind: &str, what: &Value) {
        let line = format!("{}\n", json!({ kind: what }));
        self.0.write_all(line.as_bytes()).unwrap();
    }
}

fn path(out: &Path, name: &str) -> PathBuf {
    out.join("ledgers").join(format!("{name}.jsonl"))
}

/// Returns the size of a ledger in bytes.
pub(crate) fn length(out: &Path, name: &str) -> u64 {
    fs::metadata(path(out, name)).map_or(0, |found| found.len())
}

/// Returns the lines of a ledger, oldest first, as kind and value.
pub(crate) fn lines(out: &Path, name: &str) -> Vec<(String, Value)> {
    let text = fs::read_to_string(path(out, name)).unwrap_or_default();
    let whole = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    whole.filter_map(|line| line.as_object()?.iter().next().map(|(kind, what)| (kind.clone(), what.clone()))).collect()
}
