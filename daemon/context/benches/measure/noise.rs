//! Conversations in which facts are planted.

use serde_json::{Value, json};

use super::dice::Dice;
use super::say;

const NOUNS: [&str; 20] = [
    "parser", "cache", "queue", "worker", "socket", "ledger", "index", "buffer", "planner", "router", "lexer",
    "session", "cursor", "shard", "token", "arena", "journal", "digest", "packet", "bridge",
];
const VERBS: [&str; 16] = [
    "open", "close", "flush", "merge", "split", "rotate", "verify", "compact", "resolve", "encode", "append", "trim",
    "publish", "drain", "replay", "probe",
];
const GLUE: [&str; 20] = [
    "the", "of", "and", "when", "after", "before", "because", "so", "then", "with", "under", "over", "into", "from",
    "about", "it", "stale", "fresh", "quiet", "shared",
];
const FOLDERS: [&str; 7] = ["src", "src/core", "src/net", "lib/store", "tests", "tools", "pkg/api"];
const ENDINGS: [&str; 5] = [".py", ".rs", ".ts", ".go", ".toml"];
const COMMANDS: [&str; 5] = ["cargo test", "pytest -q", "npm run build", "git diff --stat", "ls -la"];

fn sentence(dice: &mut Dice) -> String {
    let words: Vec<&str> = (0..dice.between(6, 18))
        .map(|_| match dice.below(3) {
            0 => dice.pick(&NOUNS),
            1 => dice.pick(&VERBS),
            _ => dice.pick(&GLUE),
        })
        .collect();
    let end = dice.pick(&[".", ".", ".", "?", ";"]);
    let text = words.join(" ");
    format!("{}{}{end}", text[..1].to_uppercase(), &text[1..])
}

fn prose(dice: &mut Dice, from: usize, to: usize) -> String {
    let size = dice.between(from, to);
    let mut text = String::new();
    while text.len() < size {
        text.push_str(&sentence(dice));
        text.push(' ');
    }
    text.trim_end().to_owned()
}

fn path(dice: &mut Dice) -> String {
    format!("{}/{}_{}{}", dice.pick(&FOLDERS), dice.pick(&NOUNS), dice.pick(&VERBS), dice.pick(&ENDINGS))
}

fn code(dice: &mut Dice, size: usize) -> String {
    let mut out = String::new();
    let mut number = 1;
    while out.len() < size {
        let (a, b, c) = (dice.pick(&NOUNS), dice.pick(&VERBS), dice.pick(&NOUNS));
        let n = dice.below(4_096);
        let line = match dice.below(10) {
            0 => format!("fn {b}_{a}(&mut self, n: usize) -> Result<{c}> {{"),
            1 => format!("    if self.{a}.len() > {n} {{"),
            2 => "    }".to_owned(),
            3 => format!("    // {}", sentence(dice)),
            4 | 5 => format!("    let {a} = self.{c}.{b}(\"{a}-{n}\", {n})?;"),
            _ => format!("    self.{a}.{b}({c}, {a}[{}]);", n % 32),
        };
        out.push_str(&format!("{number:6}|{line}\n"));
        number += 1;
    }
    out
}

fn log(dice: &mut Dice, size: usize) -> String {
    let kind = dice.below(4);
    let mut out = String::new();
    let mut time = dice.below(80_000);
    while out.len() < size {
        time += dice.below(40);
        let stamp = format!(
            "2026-05-04T{:02}:{:02}:{:02}.{:03}Z",
            time / 3_600 % 24,
            time / 60 % 60,
            time % 60,
            dice.below(1_000)
        );
        let (noun, verb, other) = (dice.pick(&NOUNS), dice.pick(&VERBS), dice.pick(&NOUNS));
        let line = match kind {
            0 => format!(
                "{stamp} {} [{noun}-{}] {} id={} took={}ms",
                dice.pick(&["INFO", "INFO", "DEBUG", "WARN", "ERROR"]),
                dice.below(8),
                sentence(dice),
                dice.hex(12),
                dice.below(900)
            ),
            1 => format!("test {noun}::{verb}_stale_{other} ... {}", dice.pick(&["ok", "ok", "ok", "FAILED", "ignored"])),
            2 if dice.chance(20) => format!("warning: unused variable: `{noun}`\n  --> {}:{}:{}", path(dice), dice.below(900), dice.below(60)),
            2 => format!("   Compiling {noun}-{other} v{}.{}.{}", dice.below(4), dice.below(30), dice.below(9)),
            _ => json!({"ts": stamp, "level": dice.pick(&["info", "warn"]), "component": noun, "msg": sentence(dice), "n": dice.below(1_000_000)}).to_string(),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Returns a call of a coding tool and its result.
fn tool(dice: &mut Dice, id: &str) -> (Value, Value) {
    let file = path(dice);
    let (name, given, got) = match dice.below(100) {
        0..30 => {
            let size = if dice.chance(12) { dice.between(3_000, 22_000) } else { dice.between(600, 5_200) };
            ("read_file", json!({"path": file, "offset": 1}), json!({"content": code(dice, size), "total_lines": 400}))
        }
        30..62 => {
            let command = format!("{} {file}", dice.pick(&COMMANDS));
            let size = match dice.below(100) {
                0..45 => dice.between(200, 1_500),
                45..94 => dice.between(1_500, 9_000),
                _ => dice.between(9_000, 40_000),
            };
            let exit = dice.pick(&["0", "0", "0", "1", "101"]).parse::<u32>().unwrap();
            (
                "terminal",
                json!({"command": command, "timeout": 120}),
                json!({"output": log(dice, size), "exit_code": exit}),
            )
        }
        62..80 => {
            let hits: Vec<Value> = (0..dice.between(2, 50))
                .map(|_| json!({"path": path(dice), "line": dice.below(1_500), "content": sentence(dice)}))
                .collect();
            (
                "search_files",
                json!({"pattern": dice.pick(&VERBS), "path": dice.pick(&FOLDERS)}),
                json!({"total_count": hits.len(), "matches": hits}),
            )
        }
        _ => {
            let (old_size, new_size) = (dice.between(150, 900), dice.between(150, 1_400));
            (
                "patch",
                json!({"path": file, "old_string": code(dice, old_size), "new_string": code(dice, new_size)}),
                json!({"success": true}),
            )
        }
    };
    let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": given.to_string()}});
    (call, json!({"role": "tool", "tool_call_id": id, "content": got.to_string()}))
}

/// Returns a coding session.
pub(crate) fn coding(dice: &mut Dice, count: usize) -> Vec<Value> {
    let mut list = vec![say("system", &format!("You are a careful coding assistant. {}", prose(dice, 6_000, 9_000)))];
    let mut ids = 0;
    while list.len() < count {
        let size = if dice.chance(90) { (40, 600) } else { (600, 4_000) };
        list.push(say("user", &prose(dice, size.0, size.1)));
        for _ in 0..dice.between(3, 14) {
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            for _ in 0..dice.pick(&["1", "1", "1", "2", "3"]).parse::<usize>().unwrap() {
                ids += 1;
                let (call, result) = tool(dice, &format!("call_{ids:06}"));
                calls.push(call);
                results.push(result);
            }
            let words = if dice.chance(50) { prose(dice, 20, 300) } else { String::new() };
            list.push(json!({"role": "assistant", "content": words, "tool_calls": calls}));
            list.extend(results);
        }
        list.push(say("assistant", &prose(dice, 150, 1_500)));
    }
    list
}

/// Returns a service desk conversation: short messages, many of them from the user, and results in one line
/// of JSON.
pub(crate) fn desk(dice: &mut Dice, count: usize) -> Vec<Value> {
    let mut list = vec![say("system", "You are the agent of a travel desk. Follow the policy.")];
    let cities = ["Boston", "Denver", "Austin", "Seattle", "Oslo", "Lyon"];
    while list.len() < count {
        let id = format!("call_{:06}", list.len());
        let (from, to, day) = (dice.pick(&cities), dice.pick(&cities), dice.between(1, 29));
        list.push(say(
            "user",
            &format!("Hi! I need a flight from {from} to {to} on May {day}, in the morning if there is one."),
        ));
        list.push(say("assistant", "I can help with that. May I have your user id first?"));
        list.push(say(
            "user",
            &format!("Sure, it is {}_{}_{}.", dice.pick(&NOUNS), dice.pick(&VERBS), dice.below(9_999)),
        ));
        list.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "search_direct_flight", "arguments": json!({"origin": from, "destination": to}).to_string()}}]}));
        let flights: Vec<Value> = (0..dice.between(3, 30))
            .map(|_| json!({"flight_number": format!("HAT{:03}", dice.below(300)), "origin": from, "status": "available",
                "available_seats": {"economy": dice.below(20), "business": dice.below(20)}, "prices": {"economy": dice.below(300)}}))
            .collect();
        list.push(json!({"role": "tool", "tool_call_id": id, "content": Value::from(flights).to_string()}));
        list.push(say("assistant", &format!("There are these flights:\n\n1. **Flight HAT{:03}**\n   - Departure: {:02}:00 AM EST\n   - Price: ${}\n\nWhich one would you like?", dice.below(300), dice.below(12), dice.below(400))));
        list.push(say(
            "user",
            dice.pick(&[
                "Yes, please go ahead.",
                "The first one, thanks.",
                "That works for me!",
                "Is there a later one?",
            ]),
        ));
        list.push(say("assistant", "Your flight is booked. Is there anything else?"));
    }
    list
}

/// Chains real conversations, with the system message of the first.
pub(crate) fn real(text: &str) -> Vec<Value> {
    let mut list: Vec<Value> = Vec::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let messages = value["messages"].take();
        let turns = messages.as_array().unwrap().iter();
        let system = list.is_empty();
        list.extend(turns.filter(|message| system || message["role"] != "system").cloned());
    }
    list
}
