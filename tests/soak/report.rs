//! The final report.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::ledger;
use crate::measure::Sample;
use crate::verify::Verified;
use crate::workers::CAST;

/// The results of a soak.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    /// How often each fault happened.
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// Faults that this machine can't cause.
    pub(crate) left_out: Vec<String>,
    /// Number of operations, by kind.
    pub(crate) operations: BTreeMap<String, u64>,
    /// Number of failed calls, by kind of error.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) edits_by_hand: u64,
    /// Answers of the daemon that did not hold.
    pub(crate) losses: Vec<String>,
    /// Processes that ended by themselves.
    pub(crate) ended: Vec<String>,
    /// A summary of the final check.
    pub(crate) looked_at: String,
    /// Resident memory of the daemon in the longest calm, in bytes: after a quarter of it, and at its end.
    pub(crate) resident_in_calm: Option<(u64, u64)>,
    pub(crate) most: BTreeMap<&'static str, u64>,
}

impl Report {
    /// Adds up the ledgers of all processes.
    pub(crate) fn add_ledgers(&mut self, out: &Path) {
        for (_, _, name) in CAST {
            for (kind, what) in ledger::lines(out, name) {
                match (kind.as_str(), what.as_str()) {
                    ("loss", words) => self.losses.push(format!("{name}: {}", words.unwrap_or_default())),
                    ("error", words) => *self.errors.entry(words.unwrap_or("other").to_owned()).or_default() += 1,
                    ("try" | "removing", _) => {}
                    _ => *self.operations.entry(kind).or_default() += 1,
                }
            }
        }
    }

    pub(crate) fn add_samples(&mut self, samples: &[Sample]) {
        let mut calms: Vec<Vec<&Sample>> = Vec::new();
        let mut is_calm = false;
        for sample in samples {
            match (sample.calm == 1, is_calm) {
                (true, false) => calms.push(vec![sample]),
                (true, true) => calms.last_mut().into_iter().for_each(|calm| calm.push(sample)),
                _ => {}
            }
            is_calm = sample.calm == 1;
        }
        if let Some(longest) = calms.into_iter().max_by_key(Vec::len) {
            let at = |index: usize| longest.get(index).map_or(0, |sample| sample.resident);
            self.resident_in_calm = Some((at(longest.len() / 4), at(longest.len().saturating_sub(2))));
        }
        for (name, cell) in &crate::measure::COLUMNS[1..] {
            self.most.insert(name, samples.iter().map(cell).max().unwrap_or(0));
        }
    }

    pub(crate) fn add_verified(&mut self, verified: Verified) {
        self.looked_at = format!("{} entries, {} outputs; {}", verified.entries, verified.outputs, verified.archive);
        self.losses.extend(verified.losses);
    }

    /// Formats the report for people.
    pub(crate) fn words(&self) -> String {
        let table = |of: &BTreeMap<String, u64>| {
            of.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        let faults = self.faults.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ");
        let memory = self.resident_in_calm.map_or("no calm".into(), |(before, after)| {
            format!("{} MB after a quarter of the longest calm, {} MB at its end", before >> 20, after >> 20)
        });
        let lines = [
            format!("{} s, seed {}", self.seconds, self.seed),
            format!("operations: {}; {} edits by hand", table(&self.operations), self.edits_by_hand),
            format!("errors told: {}", table(&self.errors)),
            format!("faults: {faults}"),
            format!("looked at in the end: {}", self.looked_at),
            format!("memory: {memory}"),
            format!("ended by themselves: {}", self.ended.len()),
            format!("losses: {}", self.losses.len()),
        ];
        let left_out = self.left_out.iter().map(|words| format!("left out: {words}"));
        let shown = self.ended.iter().chain(&self.losses).take(20).map(|words| format!("  {words}"));
        lines.into_iter().chain(left_out).chain(shown).collect::<Vec<_>>().join("\n")
    }
}
