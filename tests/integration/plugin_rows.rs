//! What Claude Code's plugin gives for a conversation is the list that the engine made: row by row, over several
//! compactions, for sessions of every form.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use herma_protocol::context::CompressParams;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

const ID: &str = "0b5f1c1e-0000-4000-8000-000000000002";

/// A session as Claude Code has it: rows in memory, and records in a file.
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
        let mut told = json!({ "session_id": ID, "transcript_path": self.transcript });
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let cli = Cli::new(self.home)
            .with("HERMA_HOOK_TIMEOUT_MS", "30000")
            .with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
        cli.run_with(&["hook", "claude-code", event], &told.to_string()).done()
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

    /// A round of calls, each a row, and their results, each a row, as the client writes them.
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

    fn chars(&self) -> usize {
        flat_rows(&self.rows).iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// Compacts, and takes the answer for the conversation; gives the list of the engine.
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
        // Where nothing can leave the list comes back as it is.
        let range = Some((1 << 30, (1 << 30) + 1));
        let params = CompressParams { session: format!("claude-code:{ID}"), range, ..CompressParams::default() };
        let list = daemon.client().context_compress(params).unwrap().compressed().unwrap();
        assert!(!list.report.compressed);
        list.messages.unwrap().iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect()
    }
}

/// What a model reads of rows: who or what it is of, and the text.
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

/// Without the lines of previews that say how to read on: each client has tools of its own for that.
fn without_ways(flat: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_way =
        |line: &&str| line.starts_with("Use the read_file tool") || line.starts_with("Read sections of it with");
    let without = |text: String| text.lines().filter(|line| !is_way(line)).collect::<Vec<_>>().join("\n");
    flat.into_iter().map(|(of, text)| (of, without(text))).collect()
}

/// The same of a list of the engine.
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

fn compacted_again_and_again(name: &str, go_on: impl Fn(&mut Session<'_>)) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::begin(&home);
    for number in 0..4 {
        while session.chars() < 150_000 {
            go_on(&mut session);
        }
        drop(session.hook("stop", &json!({})));
        let before = session.chars();
        let list = session.compact(&daemon);
        let (rows, list) = (flat_rows(&session.rows), flat_list(&list));
        let foreign = rows.iter().find(|(_, text)| text.contains("read_file"));
        assert_eq!(foreign, None, "{name}: a tool that the client has not");
        let (rows, list) = (without_ways(rows), without_ways(list));
        assert_eq!(rows, list, "{name}, compaction {number}");
        assert!(rows[0].1.starts_with("[CONTEXT COMPACTION") && rows[0].0 == "user", "{name}, {number}: {:?}", rows[0]);
        assert!(session.chars() * 3 <= before, "{name}, {number}: {} of {before} chars", session.chars());
        let first = rows.iter().filter(|(_, text)| text.contains("Always answer in English.")).count();
        assert!(first >= 1, "{name}, {number}: the rule is gone");
    }
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
    compacted_again_and_again("answers without calls", |session| {
        begin(session, 0);
        let number = session.made;
        session.user(&format!("look at {number}: {}", "word ".repeat(400)));
        session.answer(&format!("seen {number}"));
    });
    compacted_again_and_again("first answer without a call", |session| {
        begin(session, 0);
        session.user("go on");
        session.round(1, 8_000);
        session.answer(&format!("done {}", session.made));
    });
    compacted_again_and_again("first answer with calls", |session| {
        begin(session, 2);
        session.user("go on");
        session.round(6, 3_000);
        session.answer(&format!("done {}", session.made));
    });
    compacted_again_and_again("one turn that never ends", |session| {
        begin(session, 0);
        if session.made == 2 {
            session.user("do all the steps");
        }
        session.round(1 + session.made % 3, 4_000);
    });
    compacted_again_and_again("one result larger than the target", |session| {
        begin(session, 1);
        session.user("go on");
        session.round(1, 90_000);
    });
    compacted_again_and_again("calls with large arguments", |session| {
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
