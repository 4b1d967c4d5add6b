//! Measures how much survives a compression: plants facts in conversations, and counts them word for word
//! afterwards.
//!
//! Prints a table. Run `cargo bench -p herma-context --bench measure`. If `HERMA_MEASURE_DATA` names a file
//! of conversations (one JSON object with `messages` per line), chained ones are measured too. If
//! `HERMA_MEASURE_LOST` is set, it prints the lost facts. Words after `--` choose rows by parts of their names.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

#[path = "measure/dice.rs"]
mod dice;
#[path = "measure/facts.rs"]
mod facts;
#[path = "measure/noise.rs"]
mod noise;

use std::collections::BTreeMap;

use dice::Dice;
use facts::{Fact, Kind};
use herma_context::engine::{CompressRequest, EngineState, Summary, Writer};
use herma_context::lossless::{Coverage, NewNode, Node, SessionNodes};
use herma_context::{Engine, Message, Settings, pairs, tokens};
use herma_guard::Policy;
use serde_json::{Value, json};

/// The window of the measurement, in tokens.
const WINDOW: u64 = 200_000;
/// Facts of each kind.
const PER_KIND: usize = 6;
/// Facts of each kind in the messages between two compressions.
const PER_KIND_LATER: usize = 1;
/// Messages between two compressions.
const BETWEEN: usize = 300;

/// The engines that are compared.
const ENGINES: [Engine; 2] = [Engine::Compressor, Engine::Lossless];

fn main() {
    println!(
        "{:<34} {:>5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6}  by kind",
        "conversation", "runs", "rules", "asks", "all", "lines", "handoff", "in all", "valid"
    );
    for seed in 1..=3 {
        for count in [300, 1_000, 5_000] {
            let conversation = noise::coding(&mut Dice::new(seed), count);
            once(&format!("coding {count} ({seed})"), conversation, seed);
        }
        once(&format!("desk 1000 ({seed})"), noise::desk(&mut Dice::new(seed), 1_000), seed);
    }
    for seed in 4..=6 {
        let list = noise::coding(&mut Dice::new(seed), 1_000);
        let more = (0..4).map(|at| noise::coding(&mut Dice::new(seed * 100 + at), BETWEEN)).collect();
        repeatedly(&format!("coding, five runs ({seed})"), list, more, seed);
    }
    for seed in 4..=6 {
        let list = noise::coding(&mut Dice::new(seed), 1_000);
        let more = (0..19).map(|at| noise::coding(&mut Dice::new(seed * 100 + at), BETWEEN)).collect();
        repeatedly(&format!("coding, twenty runs ({seed})"), list, more, seed);
    }
    let Ok(path) = std::env::var("HERMA_MEASURE_DATA") else { return };
    let real = noise::real(&std::fs::read_to_string(path).unwrap());
    for seed in 7..=9 {
        for count in [1_000, 2_000] {
            once(&format!("real, {count} ({seed})"), real.iter().take(count).cloned().collect(), seed);
        }
        let more =
            (0..4).map(|at| real.iter().cycle().skip(1_000 + at * BETWEEN).take(BETWEEN).cloned().collect()).collect();
        repeatedly(&format!("real, five runs ({seed})"), real.iter().take(1_000).cloned().collect(), more, seed);
        let more =
            (0..19).map(|at| real.iter().cycle().skip(1_000 + at * BETWEEN).take(BETWEEN).cloned().collect()).collect();
        repeatedly(&format!("real, twenty runs ({seed})"), real.iter().take(1_000).cloned().collect(), more, seed);
    }
}

/// Whether a row is wanted, by the words on the command line.
fn is_wanted(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))
}

fn once(name: &str, mut list: Vec<Value>, seed: u64) {
    if !is_wanted(name) {
        return;
    }
    let facts = plant(&mut list, PER_KIND, seed);
    for engine in ENGINES {
        let mut session = Session { engine, ..Session::default() };
        session.grow(&list);
        session.compress();
        session.report(name, &facts);
    }
}

fn repeatedly(name: &str, mut list: Vec<Value>, more: Vec<Vec<Value>>, seed: u64) {
    if !is_wanted(name) {
        return;
    }
    let mut facts = plant(&mut list, PER_KIND, seed);
    let mut parts = vec![list];
    for (at, mut next) in more.into_iter().enumerate() {
        next.retain(|message| message["role"] != "system");
        facts.extend(plant(&mut next, PER_KIND_LATER, seed * 1_000 + at as u64));
        parts.push(next);
    }
    for engine in ENGINES {
        let mut session = Session { engine, ..Session::default() };
        for part in &parts {
            session.grow(part);
            session.compress();
        }
        session.report(name, &facts);
    }
}

/// Plants facts between the first twentieth and the last fifth of the list.
fn plant(list: &mut Vec<Value>, per_kind: usize, seed: u64) -> Vec<Fact> {
    let mut dice = Dice::new(seed ^ 0xfac7);
    let mut all = facts::make(&mut dice, per_kind);
    for fact in &mut all {
        let (from, to) = (list.len() / 20, list.len() * 4 / 5);
        fact.plant(&mut dice, list, from..to);
    }
    all
}

/// A conversation that is compressed several times.
#[derive(Default)]
struct Session {
    engine: Engine,
    /// All nodes created so far.
    nodes: Vec<NewNode>,
    list: Vec<Message>,
    state: EngineState,
    /// The text of all messages that left the list.
    removed: String,
    runs: usize,
    handoff: usize,
    valid: bool,
}

impl Session {
    fn grow(&mut self, values: &[Value]) {
        self.list.extend(values.iter().map(|value| Message::parse(value.to_string()).unwrap()));
    }

    /// The caller has no rules, so they must survive in the list alone.
    fn compress(&mut self) {
        let settings = Settings::of_window(WINDOW).unwrap();
        let request = CompressRequest { nodes: self.known(), now: 1_790_000_000.0, ..CompressRequest::default() };
        let mut prepared = self.engine.prepare(&self.list, &settings, &self.state, &request, |_| ()).ok().unwrap();
        prepared.write_summary(&Policy::default());
        let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
        let summary = Summary { body, writer: Writer::Extractive, ..Summary::default() };
        let limit = prepared.handoff_chars();
        let done = prepared.finish(summary, format!("cmp_0123456789ab_{}", self.runs), &|_, _| None);
        self.nodes.extend(done.nodes.iter().cloned());
        for removed in &done.removed {
            self.removed.push_str(&readable(&self.list[removed.index()]));
        }
        let new: Vec<Message> = done.messages(&self.list).cloned().collect();
        let pairing = pairs::pairing(&new);
        self.handoff = done.handoff.chars().count();
        let paired = pairing.orphans.is_empty() && pairing.unanswered.is_empty();
        let one = new.iter().filter(|message| message.is_summary()).count() == 1;
        let smaller = tokens::estimate_messages(&new) < tokens::estimate_messages(&self.list);
        self.valid = paired && one && smaller && self.handoff <= limit && (self.runs == 0 || self.valid);
        self.list = new;
        self.state = done.state;
        self.runs += 1;
    }

    /// Returns the nodes that an archive would return.
    fn known(&self) -> SessionNodes {
        let covered: Vec<&String> = self
            .nodes
            .iter()
            .filter_map(|new| match &new.of {
                Coverage::Nodes(ids) => Some(ids),
                Coverage::Messages(_) | Coverage::Handle(_) => None,
            })
            .flatten()
            .collect();
        let mut nodes: Vec<Node> =
            self.nodes.iter().map(|new| new.node.clone()).filter(|node| !covered.contains(&&node.id)).collect();
        nodes.sort_by_key(|node| node.first);
        SessionNodes {
            prefix: "nod_0123456789ab_".into(),
            next: self.nodes.len() as u64,
            nodes,
            since: 1_780_000_000.0,
            ..SessionNodes::default()
        }
    }

    fn report(&self, name: &str, facts: &[Fact]) {
        let name = format!("{name} {}", self.engine.name());
        let text: String = self.list.iter().map(readable).collect();
        if std::env::var("HERMA_MEASURE_LOST").is_ok() {
            for fact in facts.iter().filter(|fact| !text.contains(&fact.core)) {
                println!("  lost {:?} {} | {}", fact.kind, fact.place, fact.line);
            }
            if std::env::var("HERMA_MEASURE_LOST").unwrap() == "2" {
                println!("{}", self.list.iter().find(|m| m.is_summary()).unwrap().text());
            }
        }
        let share = |wanted: &dyn Fn(&&Fact) -> bool, kept: &dyn Fn(&Fact) -> bool| {
            let all: Vec<&Fact> = facts.iter().filter(wanted).collect();
            let kept = all.iter().filter(|fact| kept(fact)).count();
            format!("{:.0} %", 100.0 * kept as f64 / all.len() as f64)
        };
        let core = |fact: &Fact| text.contains(&fact.core);
        let recalled = facts.iter().all(|fact| core(fact) || self.removed.contains(&fact.core));
        let mut kinds: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
        for fact in facts {
            let (kept, all) = kinds.entry(fact.kind).or_default();
            *all += 1;
            *kept += usize::from(core(fact));
        }
        let by_kind: Vec<String> = kinds.iter().map(|(kind, (kept, all))| format!("{kind:?} {kept}/{all}")).collect();
        println!(
            "{name:<34} {:>5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6}  {}",
            self.runs,
            share(&|fact| fact.kind == Kind::Rule, &core),
            share(&|fact| fact.kind == Kind::Ask, &core),
            share(&|_| true, &core),
            share(&|_| true, &|fact| text.contains(&fact.line)),
            self.handoff,
            text.chars().count(),
            if self.valid && recalled { "yes" } else { "NO" },
            by_kind.join(" ")
        );
    }
}

/// Returns everything that a reader of a message sees: its text and its calls' arguments.
fn readable(message: &Message) -> String {
    let value: Value = serde_json::from_str(message.raw()).unwrap();
    let calls = value["tool_calls"].as_array().into_iter().flatten();
    let given = calls.filter_map(|call| call["function"]["arguments"].as_str());
    // A reader resolves the escapes of JSON within JSON.
    let plain = |text: &str| text.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
    let all = std::iter::once(message.text().into_owned()).chain(given.map(str::to_owned));
    all.map(|text| plain(&text) + "\n").collect()
}

/// Returns a message of the given role.
fn say(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}
