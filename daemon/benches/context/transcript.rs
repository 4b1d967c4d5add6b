//! Generates sessions of a coding agent. The same size always gives the same bytes.

use serde_json::{Value, json};

const NOUNS: &[&str] =
    &["parser", "cache", "queue", "worker", "socket", "ledger", "index", "buffer", "router", "shard"];
const VERBS: &[&str] = &["open", "flush", "merge", "verify", "resolve", "decode", "append", "drain", "replay", "probe"];
const WORDS: &[&str] = &["the", "of", "when", "after", "stale", "nested", "quiet", "so", "with", "every", "it", "idle"];
const FOLDERS: &[&str] = &["src", "src/core", "lib/store", "tests", "crates/engine/src", "pkg/api"];
const ENDINGS: &[&str] = &["py", "rs", "ts", "go", "toml", "md"];

/// The number of recent results that a call may repeat.
const RECENT: usize = 20;

/// The scale that changes nothing.
const WHOLE: u64 = 1_000;

/// The scale of the texts, in thousandths of the sizes below.
#[derive(Clone, Copy)]
pub(crate) struct Scale(pub(crate) u64);

/// The size in a usual session: 2.8 KB per message.
pub(crate) const USUAL: Scale = Scale(1_130);

/// Returns a session with this number of messages, each as JSON text: requests of the user, calls with their results,
/// replies.
pub(crate) fn transcript(messages: usize, scale: Scale) -> Vec<String> {
    let mut writer = Writer { random: 0x9e37_79b9_7f4a_7c15, scale, calls: 0, recent: Vec::new(), list: Vec::new() };
    let rules = format!("You are a careful coding assistant. {}", writer.prose(6_000, 9_000));
    writer.push(&json!({"role": "system", "content": rules}));
    while writer.list.len() < messages {
        writer.episode(messages);
    }
    writer.list.truncate(messages);
    writer.list
}

struct Writer {
    random: u64,
    scale: Scale,
    calls: usize,
    recent: Vec<String>,
    list: Vec<String>,
}

impl Writer {
    fn push(&mut self, message: &Value) {
        self.list.push(message.to_string());
    }

    /// Adds a request, steps towards it, and the assistant's reply.
    fn episode(&mut self, messages: usize) {
        let request = if self.chance(90) { self.prose(40, 600) } else { self.prose(600, 4_000) };
        self.push(&json!({"role": "user", "content": request}));
        for _ in 0..self.between(3, 14) {
            if self.list.len() + 4 >= messages {
                break;
            }
            self.step();
        }
        let reply = self.prose(150, 1_500);
        self.push(&json!({"role": "assistant", "content": reply}));
    }

    /// Adds an assistant message with calls, and their results.
    fn step(&mut self) {
        let count = if self.chance(67) { 1 } else { self.between(2, 3) };
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for _ in 0..count {
            self.calls += 1;
            let (name, arguments, mut output) = self.tool();
            if !self.recent.is_empty() && self.chance(4) {
                let again = self.below(self.recent.len());
                output.clone_from(&self.recent[again]);
            }
            if self.recent.len() == RECENT {
                self.recent.remove(0);
            }
            self.recent.push(output.clone());
            let id = format!("call_{:06}", self.calls);
            let function = json!({"name": name, "arguments": arguments.to_string()});
            calls.push(json!({"id": id, "type": "function", "function": function}));
            results.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        }
        let words = if self.chance(50) { self.prose(20, 300) } else { String::new() };
        self.push(&json!({"role": "assistant", "content": words, "tool_calls": calls}));
        for result in &results {
            self.push(result);
        }
    }

    /// Returns the name, arguments and output of a call.
    fn tool(&mut self) -> (&'static str, Value, String) {
        let path = self.path();
        match self.below(100) {
            0..30 => {
                let size = if self.chance(12) { self.between(3_000, 22_000) } else { self.between(600, 5_200) };
                let output = json!({"content": self.code(size), "total_lines": 500, "truncated": false});
                ("read_file", json!({"path": path, "offset": 1, "limit": 500}), output.to_string())
            }
            30..62 => {
                let size = match self.below(100) {
                    0..45 => self.between(200, 1_500),
                    45..94 => self.between(1_500, 9_000),
                    _ => self.between(9_000, 50_000),
                };
                let output = json!({"output": self.log(size), "exit_code": self.below(2)});
                ("terminal", json!({"command": format!("cargo test {path}"), "timeout": 120}), output.to_string())
            }
            62..80 => {
                let hits = self.between(2, 50);
                let hits: Vec<Value> =
                    (0..hits).map(|line| json!({"path": self.path(), "line": line, "content": self.line()})).collect();
                let output = json!({"total_count": hits.len(), "matches": hits});
                ("search_files", json!({"pattern": "flush_\\w+", "path": path}), output.to_string())
            }
            80..93 => {
                let (old, new) = (self.between(150, 900), self.between(150, 1_400));
                let (old, new) = (self.code(old), self.code(new));
                let output = json!({"success": true, "diff": format!("--- a\n+++ b\n{new}")});
                ("patch", json!({"path": path, "old_string": old, "new_string": new}), output.to_string())
            }
            _ => {
                let size = self.between(800, 12_000);
                let output = json!({"success": true, "bytes_written": size});
                ("write_file", json!({"path": path, "content": self.code(size)}), output.to_string())
            }
        }
    }

    /// Returns a listing as tools that read files print it. `size` is that of a usual session.
    fn code(&mut self, size: usize) -> String {
        self.lines(size, |writer, number| format!("{number:6}|    {}", writer.line()))
    }

    fn log(&mut self, size: usize) -> String {
        self.lines(size, |writer, number| {
            let (noun, words) = (writer.one(NOUNS), writer.sentence());
            format!(
                "2026-05-01T10:{:02}:{:02}.000Z INFO [{noun}-3] {words} took={number}ms",
                number / 60 % 60,
                number % 60
            )
        })
    }

    fn lines(&mut self, size: usize, mut line: impl FnMut(&mut Self, usize) -> String) -> String {
        let size = self.scaled(size);
        let mut text = String::new();
        for number in 1.. {
            text.push_str(&line(self, number));
            if text.len() >= size {
                break;
            }
            text.push('\n');
        }
        text
    }

    fn line(&mut self) -> String {
        let (own, verb, name) = (self.one(NOUNS), self.one(VERBS), self.one(NOUNS));
        match self.below(3) {
            0 => format!(
                "let {name} = self.{own}.{verb}(\"{}-{}\", {})?;",
                self.one(WORDS),
                self.below(99),
                self.below(9_999)
            ),
            1 => format!("self.{own}.{verb}({name}, {name}[{}]);", self.below(31)),
            _ => format!("if self.{own}.len() > {} {{", self.below(4_096)),
        }
    }

    fn prose(&mut self, least: usize, most: usize) -> String {
        let size = self.between(least, most);
        let size = self.scaled(size);
        let mut text = self.sentence();
        while text.len() < size {
            text.push(' ');
            text.push_str(&self.sentence());
        }
        text
    }

    fn sentence(&mut self) -> String {
        let words: Vec<&str> = (0..self.between(6, 18)).map(|at| self.one([NOUNS, VERBS, WORDS][at % 3])).collect();
        format!("{}.", words.join(" "))
    }

    fn path(&mut self) -> String {
        format!("{}/{}_{}.{}", self.one(FOLDERS), self.one(NOUNS), self.one(VERBS), self.one(ENDINGS))
    }

    fn one(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    fn scaled(&self, size: usize) -> usize {
        usize::try_from(u64::try_from(size).unwrap_or(0) * self.scale.0 / WHOLE).unwrap_or(0)
    }

    fn below(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 33).unwrap_or(0) % count
    }
}
