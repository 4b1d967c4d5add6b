//! Facts of ten kinds in many wordings, and the places where they are planted.

use std::ops::Range;

use serde_json::Value;

use super::dice::Dice;
use super::say;

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Rule,
    Ask,
    Decision,
    Path,
    Command,
    Error,
    Url,
    Hash,
    Measure,
    Issue,
}

const KINDS: [Kind; 10] = [
    Kind::Rule,
    Kind::Ask,
    Kind::Decision,
    Kind::Path,
    Kind::Command,
    Kind::Error,
    Kind::Url,
    Kind::Hash,
    Kind::Measure,
    Kind::Issue,
];

/// One fact.
pub(crate) struct Fact {
    pub(crate) kind: Kind,
    /// The text to search for afterwards.
    pub(crate) core: String,
    /// The text to plant.
    pub(crate) line: String,
    pub(crate) place: &'static str,
}

/// Returns `count` facts of each kind.
pub(crate) fn make(dice: &mut Dice, count: usize) -> Vec<Fact> {
    let mut all = Vec::new();
    for kind in KINDS {
        for at in 0..count {
            let start = dice.below(8);
            let (core, line) = word(dice, kind, start + at);
            all.push(Fact { kind, core, line, place: "" });
        }
    }
    all
}

impl Fact {
    /// Plants the fact: rules and asks in user messages, decisions in assistant messages, and of the others
    /// 60 % inside outputs, the rest in prose.
    pub(crate) fn plant(&mut self, dice: &mut Dice, list: &mut Vec<Value>, within: Range<usize>) {
        let (place, role) = match self.kind {
            Kind::Rule | Kind::Ask => ("user", "user"),
            Kind::Decision => ("assistant", "assistant"),
            _ if dice.chance(60) => ("output", "tool"),
            _ => *[("assistant", "assistant"), ("user", "user")].get(dice.below(2)).unwrap(),
        };
        self.place = place;
        let long = |least: usize| -> Vec<usize> {
            let text = |at: usize| list[at]["content"].as_str().unwrap_or("");
            within.clone().filter(|&at| list[at]["role"] == role && text(at).len() >= least).collect()
        };
        // Some conversations have no long outputs.
        let candidates = match role {
            "user" => long(0),
            "tool" => [1_500, 200, 1].map(long).into_iter().find(|some| !some.is_empty()).unwrap(),
            _ => long(1),
        };
        let at = candidates[dice.below(candidates.len())];
        if role == "user" && dice.chance(30) {
            // A separate message between two turns of others.
            list.insert(at, say("user", &self.line));
            list.insert(at + 1, say("assistant", "All right."));
            return;
        }
        let text = list[at]["content"].as_str().unwrap_or("").to_owned();
        let planted = match role {
            "tool" => self.inside(&text),
            _ => {
                let seams: Vec<usize> = text.match_indices(". ").map(|(at, _)| at + 2).collect();
                let seam = if seams.is_empty() { text.len() } else { seams[dice.below(seams.len())] };
                let glue = if text.is_empty() || text.ends_with(' ') || seam < text.len() { "" } else { " " };
                format!("{}{glue}{} {}", &text[..seam], self.line, &text[seam..]).trim_end().to_owned()
            }
        };
        list[at]["content"] = Value::from(planted);
    }

    /// Returns the output with the fact as a line (or a field) in its middle.
    fn inside(&self, text: &str) -> String {
        let line = serde_json::to_string(&self.line).unwrap();
        let escaped = &line[1..line.len() - 1];
        let middle = text.floor_char_boundary(text.len() / 2);
        if let Some(at) = text[middle..].find("\\n") {
            let at = middle + at + 2;
            return format!("{}{escaped}\\n{}", &text[..at], &text[at..]);
        }
        match text[middle..].find(", \"").or_else(|| text[middle..].find(",\"")) {
            Some(at) => format!("{}, \"note\": {line}{}", &text[..middle + at], &text[middle + at..]),
            None => format!("{}\n{}\n{}", &text[..middle], self.line, &text[middle..]),
        }
    }
}

const THINGS: [&str; 12] = [
    "importer",
    "billing job",
    "login page",
    "report builder",
    "search box",
    "mail gateway",
    "nightly export",
    "upload form",
    "settings screen",
    "rate limiter",
    "audit trail",
    "sync engine",
];
const NAMES: [&str; 10] =
    ["orchid", "falcon", "quartz", "maple", "comet", "heron", "basalt", "ember", "willow", "onyx"];

/// Returns the wording of a fact: the text to search for, and the line.
fn word(dice: &mut Dice, kind: Kind, variant: usize) -> (String, String) {
    let (thing, name, other) = (dice.pick(&THINGS), dice.pick(&NAMES), dice.pick(&NAMES));
    let n = dice.between(1_000, 9_999);
    let small = dice.between(11, 99);
    let whole = |text: String| (text.clone(), text);
    match kind {
        Kind::Rule => whole(match variant % 12 {
            0 => format!("Never write to the {name}-{n} table by hand."),
            1 => format!("Always run the {name} checks ({n}) before you hand anything over."),
            2 => format!("Only use the {name} sandbox with id {n} for experiments."),
            3 => format!("Do not touch anything under vendor/{name}{n}."),
            4 => format!("You must keep the {name} API at version {n}."),
            5 => format!("From now on, prefix every branch with {name}/{n}."),
            6 => format!("Please don't mention {name} or ticket {n} in commit messages."),
            7 => format!("Make sure no file in {name}{n} grows past 400 lines."),
            8 => format!("No release of {name} {n} without my explicit approval."),
            9 => format!("All dates in the {name} {n} module must be in UTC."),
            10 => format!("The {name}-{n} bucket is off limits."),
            _ => format!("Under no circumstances may {name} {n} talk to production."),
        }),
        Kind::Ask => whole(match variant % 10 {
            0 => format!("Could you also add a dry-run switch to the {thing} of {name}{n}?"),
            1 => format!("Please rename the field {name}_{n} to {other}_{n} everywhere."),
            2 => format!("I need a short report on why the {thing} of {name}{n} is slow."),
            3 => format!("Add a test that covers the empty input of {name}{n}."),
            4 => format!("Can you check whether {name}{n} still uses the old {thing}?"),
            5 => format!("I'd like the {thing} to show the last {n} entries of {name}."),
            6 => format!("When that is done, write the changelog entry for {name} {n}."),
            7 => format!("Let's move the {thing} of {name}{n} into its own crate."),
            8 => format!("We should also translate the {thing} of {name}{n} into French."),
            _ => format!("Find out who calls the {thing} of {name}{n} and list them."),
        }),
        Kind::Decision => whole(match variant % 10 {
            0 => format!("We decided to keep {name}{n} in SQLite because it needs no server."),
            1 => format!("Decision: the {thing} uses optimistic locking for {name}{n}."),
            2 => format!("I chose {name} over {other} for lane {n} since it compresses better."),
            3 => format!("We will use {name} {n} instead of {other} for the {thing}."),
            4 => format!("Agreed: {name}{n} stays behind a feature flag until March."),
            5 => format!("We settled on {small} partitions for {name}{n}."),
            6 => format!("Going with the {name} layout {n} for the {thing}, as it keeps the diff small."),
            7 => format!("The plan is to retire {name}{n} and let {other} take over."),
            8 => format!("We ruled out {name}{n} because its licence does not fit."),
            _ => format!("Let's go with {name}{n} rather than {other}."),
        }),
        Kind::Path => {
            let path = match variant % 6 {
                0 => format!("/srv/{name}/releases/{n}/config.toml"),
                1 => format!("/var/lib/{name}/state-{n}.db"),
                2 => format!("~/work/{name}/notes-{n}.md"),
                3 => format!("deploy/{name}/values-{n}.yaml"),
                4 => format!("crates/{name}/src/gen_{n}.rs"),
                _ => format!("/etc/{name}.d/{n}-local.conf"),
            };
            let line = match dice.below(5) {
                0 => format!("The real configuration is in {path}."),
                1 => format!("wrote snapshot to {path}"),
                2 => format!("loading overrides from {path}"),
                3 => format!("You will find it under {path} on that host."),
                _ => format!("using {path} (last modified yesterday)"),
            };
            (path, line)
        }
        Kind::Command => {
            let command = match variant % 7 {
                0 => format!("kubectl rollout restart deploy/{name}-{n} -n prod"),
                1 => format!("docker compose -f infra/{name}.yml up -d --scale worker={small}"),
                2 => format!("psql -h db-{name} -c 'vacuum analyze t_{n}'"),
                3 => format!("cargo run --release -p {name} -- --seed {n}"),
                4 => format!("git cherry-pick -x {name}~{small}"),
                5 => format!("make -C {name} PROFILE=lab-{n} flash"),
                _ => format!("./scripts/{name}.sh --since {n} --jobs {small}"),
            };
            let line = match dice.below(4) {
                0 => format!("To reproduce run `{command}` twice."),
                1 => format!("$ {command}"),
                2 => format!("next step: {command}"),
                _ => format!("It worked with `{command}`."),
            };
            (command, line)
        }
        Kind::Error => whole(match variant % 9 {
            0 => format!("error[E0{n}]: cannot borrow `{name}` as mutable more than once"),
            1 => format!("FATAL: role \"{name}_{n}\" does not exist"),
            2 => format!("ConnectionResetError: [Errno 104] peer {name}-{n} went away"),
            3 => format!("thread 'main' panicked at {name}.rs:{n}: lease expired"),
            4 => format!("make: *** [{name}-{n}] Error 2"),
            5 => format!("java.lang.IllegalStateException: {name} {n} was closed twice"),
            6 => format!("permission denied while opening /dev/{name}{n}"),
            7 => format!("lock manager: gave up on {name} after {n} attempts"),
            _ => format!("HTTP 502 from {name}-{n}: upstream prematurely closed the connection"),
        }),
        Kind::Url => {
            let url = match variant % 4 {
                0 => format!("https://wiki.{name}.example/x/{n}?tab=notes"),
                1 => format!("http://10.0.{small}.7:{n}/metrics"),
                2 => format!("https://{name}.example.org/runs/{n}/logs"),
                _ => format!("postgres://{name}-{n}.internal:5432/main"),
            };
            let line = match dice.below(3) {
                0 => format!("The runbook is at {url} for everybody."),
                1 => format!("dashboard: {url}"),
                _ => format!("See {url}."),
            };
            (url, line)
        }
        Kind::Hash => {
            let hash = dice.hex([40, 10, 8, 64][variant % 4]);
            let hash = format!("{}a7{}", &hash[..3], &hash[5..]);
            let line = match dice.below(4) {
                0 => format!("The regression came in with commit {hash}."),
                1 => format!("HEAD is now at {hash} tidy up"),
                2 => format!("checksum of the bundle: {hash}"),
                _ => format!("Reverted {hash} for the moment."),
            };
            (hash, line)
        }
        Kind::Measure => {
            let value = match variant % 6 {
                0 => format!("{n}.{small} ms"),
                1 => format!("{small}.{} %", n % 10),
                2 => format!("{n} MiB"),
                3 => format!("{small},{} req/s", n % 900 + 100),
                4 => format!("{small}.{}x", n % 100),
                _ => format!("{n} tokens"),
            };
            let line = match dice.below(4) {
                0 => format!("The p99 of the {thing} is {value} now."),
                1 => format!("peak of {name}: {value}"),
                2 => format!("With the fix {name} takes {value}."),
                _ => format!("median over all {name} runs = {value}"),
            };
            (value, line)
        }
        Kind::Issue => {
            let issue = match variant % 4 {
                0 => format!("#{n}"),
                1 => format!("{}-{n}", name.to_uppercase()),
                2 => format!("PR {n}"),
                _ => format!("issue {n}"),
            };
            let line = match dice.below(3) {
                0 => format!("That is the same problem as {issue} on {name}."),
                1 => format!("closes {issue} ({name})"),
                _ => format!("Tracked in {issue} for the {thing}."),
            };
            (issue, line)
        }
    }
}
