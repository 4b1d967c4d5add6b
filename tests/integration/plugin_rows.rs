//! Checks that the rows of Claude Code's plugin equal the engine's list, row by row and over several compactions. The
//! sessions have every form, and some are recorded.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use herma_protocol::context::CompressParams;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

const ID: &str = "0b5f1c1e-0000-4000-8000-000000000002";

/// A session as Claude Code keeps it: rows in memory, and records in a file.
struct Session<'a> {
    home: &'a Home,
    transcript: PathBuf,
    rows: Vec<Value>,
    made: usize,
}

impl<'a> Session<'a> {
    fn begin(home: &'a Home) -> Self {
        let session = Self { home, transcript: home.path().join(format!("{ID}.jsonl")), rows: Vec::new(), made: 0 };
        drop(session.hook("session-start", &json!({ "source": "startup" })));
        session
    }

    fn hook(&self, event: &str, more: &Value) -> String {
        let mut input = json!({ "session_id": ID, "transcript_path": self.transcript });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let cli = Cli::new(self.home)
            .with("HERMA_HOOK_TIMEOUT_MS", "30000")
            .with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
        cli.run_with(&["hook", "claude-code", event], &input.to_string()).done()
    }

    /// Adds a record and its row.
    fn add(&mut self, role: &str, content: &Value, row: &Value) {
        self.made += 1;
        let handle = format!("u{}", self.made);
        let time = format!("2026-11-27T{:02}:{:02}:{:02}Z", self.made / 3600, self.made / 60 % 60, self.made % 60);
        let record =
            json!({ "type": role, "uuid": handle, "timestamp": time, "message": { "role": role, "content": content } });
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&self.transcript).unwrap();
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
        let mut whole = json!({ "role": role, "text": "", "toolUses": [], "handle": handle });
        whole.as_object_mut().unwrap().extend(row.as_object().unwrap().clone());
        self.rows.push(whole);
    }

    fn user(&mut self, words: &str) {
        self.add("user", &json!(words), &json!({ "text": words }));
    }

    fn answer(&mut self, words: &str) {
        self.add("assistant", &json!([{ "type": "text", "text": words }]), &json!({ "text": words }));
    }

    /// Adds a round of calls and a round of results, one row each, as the client writes them.
    fn round(&mut self, calls: usize, chars: usize) {
        let first = self.made;
        let id = |at: usize| format!("toolu_{first}_{at}");
        for at in 0..calls {
            let input = json!({ "command": format!("look {first} {at}") });
            let call = json!({ "type": "tool_use", "id": id(at), "name": "Bash", "input": input });
            let row = json!({ "toolUses": [{ "tool_use_id": id(at), "tool": "Bash", "input": input }] });
            self.add("assistant", &json!([call]), &row);
        }
        for at in 0..calls {
            let text = format!("found {first} {at}: {}", "host db-7, port 8007, is well\n".repeat(chars / 30));
            let result = json!({ "type": "tool_result", "tool_use_id": id(at), "content": text });
            self.add("user", &json!([result]), &json!({ "toolResults": [{ "tool_use_id": id(at), "text": text }] }));
        }
    }

    /// Whether every call has its result.
    fn is_complete(&self) -> bool {
        let ids = |name: &str| -> std::collections::HashSet<String> {
            let all = self.rows.iter().filter_map(|row| row.get(name)?.as_array()).flatten();
            all.map(|one| one["tool_use_id"].as_str().unwrap().to_owned()).collect()
        };
        ids("toolUses").is_subset(&ids("toolResults"))
    }

    fn chars(&self) -> usize {
        flat_rows(&self.rows).iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// Compacts, and replaces the conversation with the answer. Returns the engine's list.
    fn compact(&mut self, daemon: &Daemon) -> Vec<Value> {
        let answer = self.hook("compact", &json!({ "messages": self.rows, "trigger": "auto" }));
        let log = fs::read_to_string(self.home.path().join("herma/hermad.log")).unwrap_or_default();
        let complaints: Vec<&str> = log.lines().filter(|line| line.contains("herma::hook")).collect();
        assert!(!answer.is_empty(), "the client would ask its model: {complaints:?}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let known = |handle: &Value| self.rows.iter().find(|row| row["handle"] == *handle).unwrap().clone();
        let rows = answer["messages"].as_array().unwrap().iter().enumerate().map(|(at, row)| match row.get("handle") {
            Some(handle) => known(handle),
            None => {
                let mut row = row.clone();
                row["handle"] = format!("n{}_{at}", self.made).into();
                row
            }
        });
        self.rows = rows.collect();
        // A range from which nothing can leave returns the list unchanged.
        let range = Some((1 << 30, (1 << 30) + 1));
        let params = CompressParams { session: format!("claude-code:{ID}"), range, ..CompressParams::default() };
        let list = daemon.client().context_compress(params).unwrap().compressed().unwrap();
        assert!(!list.report.compressed);
        list.messages.unwrap().iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect()
    }
}

/// Flattens rows to what a model reads: the source of each text, and the text.
fn flat_rows(rows: &[Value]) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    for row in rows {
        let each = |name: &str| row[name].as_array().cloned().unwrap_or_default();
        for result in each("toolResults") {
            flat.push((format!("result {}", result["tool_use_id"]), result["text"].as_str().unwrap().to_owned()));
        }
        let text = row["text"].as_str().unwrap();
        if !text.is_empty() {
            flat.push((row["role"].as_str().unwrap().to_owned(), text.to_owned()));
        }
        flat.extend(
            each("toolUses").iter().map(|call| (format!("call {}", call["tool_use_id"]), call["input"].to_string())),
        );
    }
    flat
}

/// Removes the lines of previews that explain how to read on, because each client has its own tools for that.
fn without_ways(flat: &[(String, String)]) -> Vec<(String, String)> {
    let is_way =
        |line: &&str| line.starts_with("Use the read_file tool") || line.starts_with("Read sections of it with");
    let without = |text: &str| text.lines().filter(|line| !is_way(line)).collect::<Vec<_>>().join("\n");
    flat.iter().map(|(of, text)| (of.clone(), without(text))).collect()
}

/// Flattens a list of the engine in the same way.
fn flat_list(list: &[Value]) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    for message in list {
        let role = message["role"].as_str().unwrap();
        let text = message["content"].as_str().unwrap_or_default();
        match role {
            "tool" => flat.push((format!("result {}", message["tool_call_id"]), text.to_owned())),
            _ if text.is_empty() => {}
            _ => flat.push((role.to_owned(), text.to_owned())),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap().to_owned();
            flat.push((format!("call {}", call["id"]), arguments));
        }
    }
    flat
}

fn compact_often(name: &str, go_on: impl Fn(&mut Session<'_>)) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::begin(&home);
    for number in 0..4 {
        while session.chars() < 150_000 {
            go_on(&mut session);
        }
        let rows = compact_and_compare(&mut session, &daemon, &format!("{name}, compaction {number}"));
        let rules = rows.iter().filter(|(_, text)| text.contains("Always answer in English.")).count();
        assert!(rules >= 1, "{name}, {number}: the rule is gone");
    }
}

/// Compacts, and compares the rows with the engine's list.
fn compact_and_compare(session: &mut Session<'_>, daemon: &Daemon, name: &str) -> Vec<(String, String)> {
    drop(session.hook("stop", &json!({})));
    let before = session.chars();
    let list = session.compact(daemon);
    let (rows, list) = (flat_rows(&session.rows), flat_list(&list));
    let foreign = rows.iter().find(|(_, text)| text.contains("Use the read_file tool"));
    assert_eq!(foreign, None, "{name}: a tool that the client has not");
    let plain = |flat: &[(String, String)]| -> Vec<(String, String)> {
        without_ways(flat).into_iter().map(|(of, text)| (of, text.split_whitespace().collect())).collect()
    };
    let (plain_rows, mut plain_list) = (plain(&rows), plain(&list));
    // A result that the engine shortened only a little stays unchanged.
    for ((of, whole), (_, short)) in plain_rows.iter().zip(&mut plain_list) {
        if of.starts_with("result") && short.chars().count() * 100 > whole.chars().count() * 85 {
            short.clone_from(whole);
        }
    }
    assert_eq!(plain_rows, plain_list, "{name}");
    assert!(rows[0].1.starts_with("[CONTEXT COMPACTION") && rows[0].0 == "user", "{name}: {:?}", rows[0]);
    assert!(session.chars() * 3 <= before, "{name}: {} of {before} chars", session.chars());
    rows
}

#[test]
fn rows_are_the_list_of_the_engine_for_sessions_of_every_form() {
    let rule = "Always answer in English.";
    let begin = |session: &mut Session<'_>, calls: usize| {
        if session.made == 0 {
            session.user(rule);
            if calls > 0 {
                session.round(calls, 2_000);
            }
            session.answer("understood");
        }
    };
    compact_often("answers without calls", |session| {
        begin(session, 0);
        let number = session.made;
        session.user(&format!("look at {number}: {}", "word ".repeat(400)));
        session.answer(&format!("seen {number}"));
    });
    compact_often("first answer without a call", |session| {
        begin(session, 0);
        session.user("go on");
        session.round(1, 8_000);
        session.answer(&format!("done {}", session.made));
    });
    compact_often("first answer with calls", |session| {
        begin(session, 2);
        session.user("go on");
        session.round(6, 3_000);
        session.answer(&format!("done {}", session.made));
    });
    compact_often("one turn that never ends", |session| {
        begin(session, 0);
        if session.made == 2 {
            session.user("do all the steps");
        }
        session.round(1 + session.made % 3, 4_000);
    });
    compact_often("one result larger than the target", |session| {
        begin(session, 1);
        session.user("go on");
        session.round(1, 90_000);
    });
    compact_often("calls with large arguments", |session| {
        begin(session, 0);
        session.user("write it");
        let id = format!("toolu_{}", session.made);
        let input = json!({ "file_path": format!("/w/{}", session.made), "content": "line of a file\n".repeat(400) });
        let call = json!([{ "type": "tool_use", "id": id, "name": "Write", "input": input }]);
        session.add(
            "assistant",
            &call,
            &json!({ "toolUses": [{ "tool_use_id": id, "tool": "Write", "input": input }] }),
        );
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": "written" }]);
        session.add("user", &result, &json!({ "toolResults": [{ "tool_use_id": id, "text": "written" }] }));
    });
}

/// Adds a recorded message. The ids of calls get a prefix, because several recordings become one session.
fn add_recorded(session: &mut Session<'_>, message: &Value, prefix: &str) {
    let text = message["content"].as_str().unwrap_or_default();
    let id = |id: &Value| format!("{prefix}{}", id.as_str().unwrap());
    match message["role"].as_str().unwrap() {
        "user" if !text.trim().is_empty() => session.user(text),
        "tool" => {
            let id = id(&message["tool_call_id"]);
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
            session.add("user", &result, &json!({ "toolResults": [{ "tool_use_id": id, "text": text }] }));
        }
        "assistant" => {
            let calls: Vec<(String, Value, Value)> = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
                    let input = serde_json::from_str(arguments).unwrap_or(json!({ "text": arguments }));
                    (id(&call["id"]), call["function"]["name"].clone(), input)
                })
                .collect();
            if text.trim().is_empty() && calls.is_empty() {
                return;
            }
            let said = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
            let uses = calls
                .iter()
                .map(|(id, name, input)| json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
            let row = calls.iter().map(|(id, name, input)| json!({ "tool_use_id": id, "tool": name, "input": input }));
            let content: Vec<Value> = said.into_iter().chain(uses).collect();
            session.add("assistant", &json!(content), &json!({ "text": text, "toolUses": row.collect::<Vec<_>>() }));
        }
        _ => {}
    }
}

/// Returns the recorded sessions of agents in the repository, and those in the file that HERMA_CONVERSATIONS names.
fn recordings() -> Vec<Value> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let agents = root.join("later/data/agents.jsonl.gz");
    let read = std::process::Command::new("gzip").arg("-dc").arg(&agents).output().unwrap();
    assert!(read.status.success(), "{read:?}");
    let mut text = String::from_utf8(read.stdout).unwrap();
    if let Some(path) = std::env::var_os("HERMA_CONVERSATIONS") {
        text.push('\n');
        text.push_str(&fs::read_to_string(path).unwrap());
    }
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_are_the_list_of_the_engine_for_recorded_sessions() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::begin(&home);
    let mut compactions = 0;
    for (number, recording) in recordings().iter().enumerate() {
        for message in recording["messages"].as_array().unwrap() {
            add_recorded(&mut session, message, &format!("r{number}_"));
            // A client compacts only between two rounds.
            if session.is_complete() && session.chars() >= 150_000 {
                compactions += 1;
                drop(compact_and_compare(&mut session, &daemon, &format!("recording {number}")));
            }
        }
    }
    assert!(compactions >= 3, "{compactions}");
}
