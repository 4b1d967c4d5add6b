//! Compares the agents' reports with the daemon's content.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use herma_client::protocol::memory::{ListParams, StoreView};
use herma_client::protocol::session::SnapshotParams;
use herma_client::{Client, Place};
use serde::{Deserialize, Serialize};

/// Limits of the stores in chars, in a fresh home.
const LIMITS: [(&str, usize); 2] = [("memory", 2200), ("user", 1375)];

/// The report of one agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    pub agent: String,
    pub language: String,
    pub session: String,
    pub acknowledged: usize,
    pub too_full: usize,
    pub live: BTreeMap<String, Vec<String>>,
    pub poison_refused: bool,
    pub snapshot_same: bool,
    pub snapshot_sha256: String,
    pub spill: Spill,
    pub compression: Compression,
}

/// A large result that was spilled and read back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spill {
    pub chars: usize,
    pub stays: usize,
    pub identical: bool,
    pub handle: String,
}

/// A conversation that was compressed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Compression {
    pub messages_before: usize,
    pub messages_after: usize,
    pub chars_before: usize,
    pub chars_after: usize,
    pub archived: usize,
    /// Whether a removed message was found again, byte for byte.
    pub recalled: bool,
    pub elapsed_ms: f64,
    pub problems: Vec<String>,
    /// The result of using the map, if the engine made one.
    #[serde(default)]
    pub map: Option<Map>,
}

/// The result of opening a map.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Map {
    pub parts: usize,
    /// Number of messages in the opened part.
    pub opened: usize,
    /// Whether they came back byte for byte.
    pub is_whole: bool,
    /// Whether the list from before came back too.
    pub is_undone: bool,
}

/// The daemon's content at one moment.
#[derive(Debug)]
pub(crate) struct Look {
    stores: BTreeMap<&'static str, StoreView>,
    snapshots: BTreeMap<String, String>,
}

impl Look {
    pub(crate) fn at(place: &Place, agents: &[AgentReport]) -> anyhow::Result<Self> {
        let mut client = Client::connect(place)?;
        let list = client.memory_list(ListParams { target: None, raw: Some(true) })?;
        let stores = [("memory", list.memory), ("user", list.user)];
        let stores = stores.into_iter().filter_map(|(name, view)| Some((name, view?))).collect();
        let mut snapshots = BTreeMap::new();
        for agent in agents {
            let snapshot = client.session_snapshot(SnapshotParams { session: agent.session.clone() })?;
            snapshots.insert(agent.session.clone(), snapshot.sha256);
        }
        Ok(Self { stores, snapshots })
    }

    /// Counts acknowledged entries that are missing, and entries that nobody added.
    fn differences(&self, seeds: &[String], agents: &[AgentReport]) -> (usize, usize) {
        let held: BTreeSet<&String> = self.stores.values().flat_map(|view| &view.entries).collect();
        let promised: BTreeSet<&String> =
            agents.iter().flat_map(|agent| agent.live.values().flatten()).chain(seeds).collect();
        (promised.difference(&held).count(), held.difference(&promised).count())
    }

    fn within_limits(&self) -> bool {
        LIMITS.iter().all(|(name, limit)| {
            self.stores.get(name).is_some_and(|view| view.entries.join("\n§\n").chars().count() <= *limit)
        })
    }

    fn frozen(&self, agents: &[AgentReport]) -> bool {
        agents.iter().all(|agent| self.snapshots.get(&agent.session) == Some(&agent.snapshot_sha256))
    }
}

/// The complete report. Its display text is the output of the demo.
#[derive(Debug)]
pub(crate) struct Report {
    pub seeds: Vec<String>,
    pub agents: Vec<AgentReport>,
    pub before: Look,
    pub after: Look,
    pub elapsed: Duration,
}

impl Report {
    /// Whether every check holds.
    pub(crate) fn holds(&self) -> bool {
        self.checks().iter().all(|check| check.holds)
    }

    fn checks(&self) -> Vec<Check> {
        let agents = &self.agents;
        let acknowledged: usize = agents.iter().map(|agent| agent.acknowledged).sum();
        let too_full: usize = agents.iter().map(|agent| agent.too_full).sum();
        let (lost, unknown) = self.before.differences(&self.seeds, agents);
        let (lost_after, unknown_after) = self.after.differences(&self.seeds, agents);
        let chars: usize = agents.iter().map(|agent| agent.spill.chars).sum();
        let stays: usize = agents.iter().map(|agent| agent.spill.stays).sum();
        let map = agents.iter().find_map(|agent| Some((&agent.agent, agent.compression.map.as_ref()?)));
        let problems: Vec<&String> = agents.iter().flat_map(|agent| &agent.compression.problems).collect();
        vec![
            check(
                lost == 0 && unknown == 0,
                format!("{acknowledged} acknowledged writes, {lost} lost, {unknown} entries that nobody wrote"),
            ),
            check(
                self.before.within_limits() && too_full > 0,
                format!("limits held; {too_full} writes were told that the store is full: {}", self.usage()),
            ),
            check(
                agents.iter().all(|agent| agent.poison_refused),
                format!("{} poisoned entries tried, all refused", agents.len()),
            ),
            check(
                agents.iter().all(|agent| agent.snapshot_same) && self.before.frozen(agents),
                format!("{} snapshots unchanged, byte for byte, while others wrote", agents.len()),
            ),
            check(
                agents.iter().all(|agent| agent.spill.identical),
                format!(
                    "{} chars spilled and read back identical; {} stay in the conversations",
                    thousands(chars),
                    thousands(stays)
                ),
            ),
            check(
                problems.is_empty(),
                match problems.first() {
                    None => format!("{} compressed lists are valid for a chat API", agents.len()),
                    Some(first) => format!("{} problems in compressed lists, the first: {first}", problems.len()),
                },
            ),
            check(
                agents.iter().all(|agent| agent.compression.recalled),
                format!("{} messages that were compressed away found again, byte for byte", agents.len()),
            ),
            check(
                map.is_some_and(|(_, map)| map.is_whole && map.is_undone),
                map.map_or("nobody has a map".into(), |(agent, map)| {
                    format!(
                        "{agent} on the engine lossless: a map of {} parts, the {} messages of one opened in the list byte \
                         for byte, and the compression undone",
                        map.parts, map.opened
                    )
                }),
            ),
            check(
                lost_after == 0 && unknown_after == 0 && self.after.frozen(agents),
                "after kill -9 and a new start: every entry and every snapshot is still there".into(),
            ),
        ]
    }

    fn usage(&self) -> String {
        let stores = self.before.stores.iter().map(|(name, view)| format!("{name} {}", view.usage));
        stores.collect::<Vec<_>>().join(", ")
    }
}

struct Check {
    holds: bool,
    words: String,
}

const fn check(holds: bool, words: String) -> Check {
    Check { holds, words }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "herma demo: {} agents, one daemon, {:.1} s\n",
            self.agents.len(),
            self.elapsed.as_secs_f64()
        )?;
        writeln!(
            formatter,
            "{:6} {:14} {:>6} {:>6}   {:>20}   {:>14}   {:>22} {:>8} {:>9}",
            "agent", "speaks", "writes", "full", "spilled -> stays", "messages", "chars", "smaller", "took"
        )?;
        for agent in &self.agents {
            let compression = &agent.compression;
            writeln!(
                formatter,
                "{:6} {:14} {:>6} {:>6}   {:>20}   {:>14}   {:>22} {:>7.0}% {:>6.0} ms",
                agent.agent,
                agent.language,
                agent.acknowledged,
                agent.too_full,
                format!("{} -> {}", thousands(agent.spill.chars), thousands(agent.spill.stays)),
                format!("{} -> {}", thousands(compression.messages_before), thousands(compression.messages_after)),
                format!("{} -> {}", thousands(compression.chars_before), thousands(compression.chars_after)),
                smaller(compression),
                compression.elapsed_ms,
            )?;
        }
        writeln!(formatter)?;
        for check in self.checks() {
            writeln!(formatter, "{}  {}", if check.holds { "ok  " } else { "FAIL" }, check.words)?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn smaller(compression: &Compression) -> f64 {
    100.0 - compression.chars_after as f64 * 100.0 / compression.chars_before.max(1) as f64
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
