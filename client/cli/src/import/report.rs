//! The result of an import.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use herma_base::{left_out, out};
use herma_client::protocol::guard::SecretCount;
use herma_client::protocol::session::import::ImportResult;
use herma_transcripts::Tally;
use serde::{Serialize, Serializer};

use super::source::Source;

/// The most problems that are printed as they happen, and that the report contains.
const TOLD: usize = 20;

/// The result of a run.
#[derive(Debug, Default, Serialize)]
pub(in super::super) struct Report {
    program: &'static str,
    dry_run: bool,
    files: Files,
    sessions: Sessions,
    /// The number of added messages.
    messages: u64,
    /// The number of messages in which a secret was masked.
    pub(in super::super) masked: u64,
    /// The masked secrets by kind.
    secrets: BTreeMap<String, u64>,
    /// The number of skipped records, by kind.
    left_out: BTreeMap<String, u64>,
    /// The first problems.
    problems: Vec<String>,
    /// The number of all problems.
    failed: u64,
    seconds: f64,
}

#[derive(Debug, Default, Serialize)]
struct Files {
    seen: u64,
    /// Files that are unchanged since they were read before.
    unchanged: u64,
    /// Files without a line that is JSON.
    #[serde(skip)]
    torn: u64,
}

/// The sessions by the result of their import.
#[derive(Debug, Default, Serialize)]
struct Sessions {
    #[serde(serialize_with = "count")]
    new: BTreeSet<String>,
    #[serde(serialize_with = "count")]
    grown: BTreeSet<String>,
    /// Sessions that were removed from herma.
    #[serde(serialize_with = "count")]
    removed: BTreeSet<String>,
    /// Sessions that their agent itself sends to herma.
    #[serde(serialize_with = "count")]
    live: BTreeSet<String>,
}

fn count<S: Serializer>(ids: &BTreeSet<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(ids.len() as u64)
}

impl Report {
    pub(super) fn new(program: &Source, dry_run: bool) -> Self {
        Self { program: program.name, dry_run, ..Self::default() }
    }

    pub(super) fn file(&mut self, is_unchanged: bool) {
        self.files.seen += 1;
        self.files.unchanged += u64::from(is_unchanged);
    }

    /// Counts a file without a line that is JSON.
    pub(super) const fn torn_file(&mut self) {
        self.files.torn += 1;
    }

    /// Returns whether files were read, and no line of them is JSON.
    pub(super) const fn is_all_torn(&self) -> bool {
        self.files.torn > 0 && self.files.torn == self.files.seen
    }

    /// Counts the messages that were added to a session.
    pub(super) fn session(&mut self, id: &str, is_new: bool, messages: u64) {
        if messages == 0 {
            return;
        }
        self.messages += messages;
        let Sessions { new, grown, .. } = &mut self.sessions;
        if is_new {
            new.insert(id.to_owned());
        } else if !new.contains(id) {
            grown.insert(id.to_owned());
        }
    }

    /// Counts what was masked.
    pub(super) fn masked(&mut self, done: &ImportResult) {
        self.masked += done.masked;
        for SecretCount { kind, count } in &done.secrets {
            *self.secrets.entry(kind.clone()).or_default() += count;
        }
    }

    pub(super) fn removed(&mut self, id: &str) {
        self.sessions.removed.insert(id.to_owned());
    }

    pub(super) fn live(&mut self, id: &str) {
        self.sessions.live.insert(id.to_owned());
    }

    /// Returns the number of sessions that were added or have new messages.
    pub(in super::super) fn sessions(&self) -> u64 {
        (self.sessions.new.len() + self.sessions.grown.len()) as u64
    }

    pub(in super::super) const fn messages(&self) -> u64 {
        self.messages
    }

    pub(super) fn left_out(&mut self, tally: &Tally) {
        for (kind, count) in tally.iter() {
            *self.left_out.entry(kind.to_owned()).or_default() += count;
        }
    }

    /// Reports something that could not be read. The run continues.
    pub(super) fn problem(&mut self, words: String) {
        self.failed += 1;
        if self.problems.len() < TOLD && !self.problems.contains(&words) {
            out::error(&format!("herma: {words}"));
            self.problems.push(words);
        }
    }

    pub(in super::super) const fn has_problems(&self) -> bool {
        self.failed > 0
    }

    pub(super) fn took(&mut self, time: Duration) {
        self.seconds = time.as_secs_f64();
    }

    /// Returns the report for people.
    pub(super) fn text(&self) -> String {
        let [new, grown, removed, live] = {
            let Sessions { new, grown, removed, live } = &self.sessions;
            [new, grown, removed, live].map(|ids| ids.len() as u64)
        };
        let Files { seen, unchanged, .. } = self.files;
        let mut rows = vec![
            ("files", format!("{}, {} of them unchanged", out::thousands(seen), out::thousands(unchanged))),
            ("sessions", format!("{} new, {} grown", out::thousands(new), out::thousands(grown))),
            (if self.dry_run { "would be added" } else { "added" }, out::count_of(self.messages, "message")),
        ];
        if self.masked > 0 {
            let kinds = self.secrets.iter().map(|(kind, count)| format!("{} × {kind}", out::thousands(*count)));
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            let words = format!("{kinds} in {}", out::count_of(self.masked, "message"));
            rows.push(("masked", format!("{words}; they stay in the program's own files")));
        }
        if live > 0 {
            rows.push((
                "kept live",
                format!("{}, which hooks or the agent itself keep", out::count_of(live, "session")),
            ));
        }
        if removed > 0 {
            let words =
                format!("{} since an earlier import; --again brings them back", out::count_of(removed, "session"));
            rows.push(("removed", words));
        }
        if !self.left_out.is_empty() {
            let counts = self.left_out.iter().map(|(kind, count)| (kind.as_str(), *count));
            rows.push(("left out", left_out::described(counts)));
        }
        if self.failed > 0 {
            rows.push(("failed", out::count_of(self.failed, "problem")));
        }
        out::columns(&rows)
    }
}
