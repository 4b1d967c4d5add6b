//! `herma hook` and `herma hooks`, as agent clients and their users call them. The clients themselves are played in
//! `tests/agents`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use herma_protocol::memory::Target;
use herma_protocol::session::chain::ShowParams;
use herma_tests::{Cli, Daemon, Home, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const ID: &str = "0b5f1c1e-0000-4000-8000-000000000001";

/// A client's session: its home, and its transcript.
struct Client<'a> {
    home: &'a Home,
    transcript: PathBuf,
    said: usize,
    /// Milliseconds that a hook may take: many, for other tests run beside this one.
    timeout: &'static str,
    /// What is started where no daemon is there, instead of the one that is tested.
    hermad: Option<&'static str>,
}

impl<'a> Client<'a> {
    fn new(home: &'a Home) -> Self {
        Self { home, transcript: home.path().join(format!("{ID}.jsonl")), said: 0, timeout: "30000", hermad: None }
    }

    fn hook(&self, event: &str, more: &Value) -> Ran {
        let mut told = json!({ "session_id": ID, "transcript_path": self.transcript });
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut cli = Cli::new(self.home).with("HERMA_HOOK_TIMEOUT_MS", self.timeout);
        if let Some(program) = self.hermad {
            cli = cli.with("HERMAD", program);
        }
        cli.run_with(&["hook", "claude-code", event], &told.to_string())
    }

    fn context(&self, event: &str, more: &Value) -> String {
        let told: Value = serde_json::from_str(&self.hook(event, more).done()).unwrap();
        told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    /// Adds to the transcript: what the user says, and what the model answers.
    fn say(&mut self, words: &str) {
        for (role, text) in [("user", words.to_owned()), ("assistant", format!("done: {words}"))] {
            self.said += 1;
            let time = format!("2026-11-27T05:{:02}:{:02}Z", self.said / 60, self.said % 60);
            let message = json!({ "role": role, "content": text });
            let record =
                json!({ "type": role, "uuid": format!("u{}", self.said), "timestamp": time, "message": message });
            self.write(&record);
        }
    }

    fn write(&self, record: &Value) {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&self.transcript).unwrap();
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(self.home.path().join("herma/hermad.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains("herma::hook")).collect::<Vec<_>>().join("\n")
    }
}

fn row(daemon: &Daemon, session: &str) -> herma_protocol::session::chain::Row {
    daemon.client().session_show(ShowParams { session: session.into() }).unwrap()
}

#[test]
fn a_session_begins_with_what_is_known_and_ends_kept() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    let context = client.context("session-start", &json!({ "source": "startup", "model": "m" }));
    assert!(context.contains("likes tea") && context.contains("recall_search"), "{context}");
    assert_eq!(client.hook("session-start", &json!({ "source": "resume" })).done(), "", "it is told twice");
    for number in 0..20 {
        client.say(&format!("look at host db-{number}"));
        assert_eq!(client.hook("stop", &json!({})).done(), "");
    }
    client.write(&json!({ "type": "nobody-knows-it" }));
    assert_eq!(client.hook("session-end", &json!({ "reason": "other" })).done(), "");
    let row = row(&daemon, &format!("claude-code:{ID}"));
    assert_eq!((row.messages, row.end_reason.as_deref(), row.model.as_deref()), (40, Some("other"), Some("m")));
    assert_eq!(client.log(), "");
}

#[test]
fn what_stands_in_a_window_is_told_once_and_again_in_the_next() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    client.say("Always answer in English, and never push to main.");
    for number in 0..20 {
        client.say(&format!("look at host db-{number}, port {}", 8_000 + number));
    }
    home.write_store(Target::User, b"likes coffee");
    let asked = client.hook("pre-compact", &json!({ "trigger": "auto" })).done();
    assert!(asked.contains("never push to main"), "{asked}");
    let context = client.context("session-start", &json!({ "source": "compact" }));
    assert!(context.chars().count() < 10_000);
    assert!(context.find("never push to main") < context.find("likes coffee"), "{context}");
    assert!(context.contains("db-19"), "{context}");
    assert_eq!(client.hook("user-prompt-submit", &json!({})).done(), "");
    client.say("go on");
    drop(client.hook("stop", &json!({})).done());
    let cli = Cli::new(&home);
    let shown = cli.run(&["session", "show", "--json", &format!("claude-code:{ID}")]).json();
    assert_eq!((&shown["generation"], shown["messages"].as_u64()), (&json!(1), Some(45)), "{shown}");
}

#[test]
fn the_ledger_has_each_change_and_each_call_once() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    let savings = || Cli::new(&home).run(&["usage", "--savings", "--json"]).json();
    assert_eq!(savings()["rows"], json!([]));
    let told = client.context("session-start", &json!({ "source": "startup" }));
    let call = |id: &str, second: u32| {
        let usage = json!({ "input_tokens": 0, "cache_creation_input_tokens": 500, "cache_read_input_tokens": 9_500,
                            "output_tokens": 100 });
        let message =
            json!({ "role": "assistant", "id": id, "model": "m", "content": format!("look {second}"), "usage": usage });
        let time = format!("2099-11-27T05:00:{second:02}Z");
        json!({ "type": "assistant", "uuid": format!("u-{second}"), "timestamp": time, "message": message })
    };
    client.say("Look at the host.");
    // Claude Code writes a record for each block of an answer.
    for record in [call("msg_1", 1), call("msg_1", 2)] {
        client.write(&record);
    }
    let long = "row ".repeat(10_000);
    let shell = json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_response": { "stdout": long, "stderr": "" } });
    let preview = client.hook("post-tool-use", &shell).done();
    let own = json!({ "tool_name": "mcp__herma__recall_search", "tool_input": {}, "tool_response": "nothing" });
    assert_eq!(client.hook("post-tool-use", &own).done(), "");
    client.write(&call("msg_2", 3));
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    let found = savings();
    let row = &found["rows"][0];
    let counts = |row: &Value| {
        ["definitions", "context", "tools", "outputs", "compactions", "summaries"]
            .map(|part| row[part]["count"].clone())
    };
    assert_eq!(counts(row), [0, 1, 1, 1, 0, 0].map(Value::from), "{row}");
    assert_eq!((row["key"].as_str(), row["calls"].as_u64()), (Some(&*format!("claude-code:{ID}")), Some(2)));
    assert_eq!(row["context"]["added"], told.chars().count().div_ceil(4), "{row}");
    assert_eq!(row["outputs"]["removed"], 10_000, "{row}");
    assert!(preview.len() < 4_000 && row["outputs"]["added"].as_u64() < Some(1_000), "{row}");
    assert!(row["outputs"]["cost"].as_i64() < Some(-9_000), "{row}");
    // 500 tokens are written at 1.25 and 9,500 are read at 0.1, twice; 100 are answered at 5.
    assert_eq!(row["cost"], 2 * (625 + 950 + 500), "{row}");
    assert_eq!(
        row["difference"].as_i64(),
        row["cost"].as_i64().zip(row["without_herma"].as_i64()).map(|(one, other)| one - other)
    );
    // What is read again is not counted again.
    fs::remove_file(home.path().join(format!("herma/clients/claude-code/{ID}.json"))).unwrap();
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    assert_eq!(savings(), found);
    let used = Cli::new(&home).run(&["usage", "--by", "session", "--json"]).json();
    assert_eq!((&used["total"]["calls"], &used["total"]["prompt"]), (&json!(2), &json!(20_000)), "{used}");
    let text = Cli::new(&home).run(&["usage", "--savings"]).done();
    assert!(text.contains("herma saved") && text.contains("previews of large outputs"), "{text}");
    // A compaction of the client's own begins another window.
    drop(client.hook("pre-compact", &json!({ "trigger": "auto" })).done());
    drop(client.context("session-start", &json!({ "source": "compact" })));
    assert_eq!(counts(&savings()["total"]), [0, 2, 1, 1, 0, 1].map(Value::from));
    assert_eq!(client.log(), "");
}

#[test]
fn a_session_that_is_too_short_to_be_compressed_has_rules_too() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    client.say("Always answer in English, and never push to main.");
    let asked = client.hook("pre-compact", &json!({ "trigger": "manual" })).done();
    assert!(asked.contains("never push to main"), "{asked}");
    assert_eq!(row(&daemon, &format!("claude-code:{ID}")).generation, 0);
    let context = client.context("session-start", &json!({ "source": "compact" }));
    assert!(context.contains("never push to main"), "{context}");
    // One that the user takes back is not found again in what was said before.
    let rules = Cli::new(&home).run(&["constraint", "list", &format!("claude-code:{ID}"), "--json"]).json();
    let rule = rules["constraints"][0]["id"].as_str().unwrap().to_owned();
    drop(Cli::new(&home).run(&["constraint", "rm", &format!("claude-code:{ID}"), &rule]).done());
    assert_eq!(client.hook("pre-compact", &json!({ "trigger": "manual" })).done(), "");
}

#[test]
fn what_a_window_was_not_told_because_the_daemon_was_away_is_told_with_the_next_prompt() {
    let home = Home::new();
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    client.hermad = Some("/no/such/program");
    let daemon = Daemon::start(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    client.say("Always answer in English, and never push to main.");
    drop(client.hook("pre-compact", &json!({ "trigger": "auto" })).done());
    daemon.kill();
    let told = client.hook("session-start", &json!({ "source": "compact" })).json();
    assert_eq!(told.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"], "the model sees it: {told}");
    let _daemon = Daemon::start(&home);
    let context = client.context("user-prompt-submit", &json!({ "prompt": "go on" }));
    assert!(context.contains("never push to main") && context.contains("likes tea"), "{context}");
    assert_eq!(client.hook("user-prompt-submit", &json!({ "prompt": "and" })).done(), "", "it is told twice");
}

fn messages(home: &Home, session: &str) -> Option<u64> {
    let shown = Cli::new(home).run(&["session", "show", "--json", session]);
    (shown.code == 0).then(|| shown.json()["messages"].as_u64().unwrap())
}

#[test]
fn a_transcript_that_was_written_anew_is_another_session() {
    for (cut, says) in [(1, 1), (1, 4)] {
        let home = Home::new();
        let _daemon = Daemon::start(&home);
        let mut client = Client::new(&home);
        for number in 0..10 {
            client.say(&format!("look at host db-{number}"));
        }
        drop(client.hook("stop", &json!({})).done());
        let text = fs::read_to_string(&client.transcript).unwrap();
        let kept: Vec<&str> = text.lines().take(20 - cut).collect();
        fs::write(&client.transcript, kept.join("\n") + "\n").unwrap();
        for number in 0..says {
            client.say(&format!("another way, {number}, of which much more is said than before"));
        }
        drop(client.hook("stop", &json!({})).done());
        drop(client.hook("stop", &json!({})).done());
        let session = format!("claude-code:{ID}");
        assert_eq!(messages(&home, &session), Some(20));
        assert_eq!(messages(&home, &format!("{session}~2")), Some((20 - cut + 2 * says) as u64));
        assert!(client.log().contains("written anew"), "{}", client.log());
    }
}

#[test]
fn lost_notes_double_nothing() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    let notes = home.path().join(format!("herma/clients/claude-code/{ID}.json"));
    let session = format!("claude-code:{ID}");
    for number in 0..20 {
        client.say(&format!("look at host db-{number}"));
    }
    drop(client.hook("stop", &json!({})).done());
    fs::remove_file(&notes).unwrap();
    drop(client.hook("stop", &json!({})).done());
    assert_eq!(messages(&home, &session), Some(40));
    drop(client.hook("pre-compact", &json!({})).done());
    let compacted = messages(&home, &session);
    fs::remove_file(&notes).unwrap();
    client.say("more");
    drop(client.hook("stop", &json!({})).done());
    assert_eq!((messages(&home, &session), messages(&home, &format!("{session}~2"))), (compacted, Some(42)));
}

#[test]
fn what_was_late_at_the_end_is_read_when_the_next_session_begins() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    client.say("first");
    drop(client.hook("stop", &json!({})).done());
    client.say("last");
    let pid = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    client.timeout = "500";
    drop(client.hook("session-end", &json!({ "reason": "other" })).done());
    client.timeout = "30000";
    kill_process(pid, Signal::CONT).unwrap();
    let session = format!("claude-code:{ID}");
    assert_eq!(messages(&home, &session), Some(2));
    let next = json!({ "session_id": "next", "transcript_path": home.path().join("next.jsonl"), "source": "startup" });
    drop(client.hook("session-start", &next).done());
    assert_eq!(messages(&home, &session), Some(4));
}

#[test]
fn a_summary_that_is_read_by_another_hook_is_none_of_the_users_words() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    client.say("first");
    client.write(&json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null }));
    drop(client.hook("stop", &json!({})).done());
    let message = json!({ "role": "user", "content": "the handoff" });
    client.write(&json!({ "type": "user", "uuid": "c", "parentUuid": "b", "rowSource": "hook", "message": message }));
    client.say("second");
    drop(client.hook("stop", &json!({})).done());
    assert_eq!(messages(&home, &format!("claude-code:{ID}")), Some(4));
}

#[test]
fn the_plugin_gets_rows_that_stand_for_the_conversation() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for number in 0..30 {
        client.say(&format!("look at host db-{number}: {}", "word ".repeat(2_000)));
    }
    let rows: Vec<Value> = fs::read_to_string(&client.transcript)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|record| {
            let message = &record["message"];
            json!({ "role": message["role"], "text": message["content"], "toolUses": [], "handle": record["uuid"] })
        })
        .chain([json!({ "role": "user", "text": "waiting", "toolUses": [], "handle": "w" })])
        .collect();
    let answer = client.hook("compact", &json!({ "messages": rows, "trigger": "manual" })).done();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let kept = answer["messages"].as_array().unwrap();
    assert!(kept.len() < rows.len(), "{answer}");
    assert_eq!(kept.last().unwrap(), &json!({ "handle": "w" }));
    assert!(kept.iter().any(|row| row["text"].as_str().is_some_and(|text| text.contains("CONTEXT COMPACTION"))));
    // What it doesn't know is left to the client.
    client.say("more");
    let strange = json!([{ "role": "user", "text": "who said this?", "toolUses": [], "handle": "x" }]);
    assert_eq!(client.hook("compact", &json!({ "messages": strange })).done(), "");
}

#[test]
fn a_compaction_waits_for_the_newest_result_to_be_in_the_transcript() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for number in 0..30 {
        client.say(&format!("look at host db-{number}: {}", "word ".repeat(2_000)));
    }
    let lines = fs::read_to_string(&client.transcript).unwrap();
    let said = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let result = json!([{ "tool_use_id": "t1", "text": "the newest result" }]);
    let call = json!([{ "tool_use_id": "t1", "tool": "Bash", "input": {} }]);
    let rows: Vec<Value> = said
        .map(|record| {
            let message = &record["message"];
            json!({ "role": message["role"], "text": message["content"], "toolUses": [], "handle": record["uuid"] })
        })
        .chain([
            json!({ "role": "assistant", "text": "", "toolUses": call, "handle": "c" }),
            json!({ "role": "user", "text": "", "toolUses": [], "toolResults": result, "handle": "r" }),
        ])
        .collect();
    // Claude Code writes down what it did while the hook runs.
    let transcript = client.transcript.clone();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        let record = |role: &str, content: Value| {
            let message = json!({ "role": role, "content": content });
            json!({ "type": role, "uuid": role, "timestamp": "2026-11-27T06:00:00Z", "message": message })
        };
        let call = json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "the newest result" }]);
        let mut file = fs::OpenOptions::new().append(true).open(transcript).unwrap();
        for record in [record("assistant", call), record("user", result)] {
            file.write_all(format!("{record}\n").as_bytes()).unwrap();
        }
    });
    let before = row(&daemon, &format!("claude-code:{ID}")).messages;
    drop(client.hook("compact", &json!({ "messages": rows, "trigger": "auto" })).done());
    writer.join().unwrap();
    let cli = Cli::new(&home);
    let hits = cli.run(&["recall", "newest result", "--json"]).json();
    assert!(
        hits["hits"].as_array().unwrap().iter().any(|hit| hit["role"] == "tool"),
        "it was not read: {before} {hits}"
    );
}

#[test]
fn whatever_goes_wrong_the_client_goes_on() {
    let home = Home::new();
    let mut client = Client::new(&home);
    let cli = Cli::new(&home).with("HERMAD", "/no/such/program");
    // At the begin of a session the user sees it, because nothing else shows it.
    for (client, input, why) in [
        ("claude-code", "{\"session_id\":\"a\"}", "no daemon answers"),
        ("codex", "{\"session_id\":\"a\"}", "no daemon answers"),
        ("claude-code", "no JSON", "the event is no JSON"),
        ("claude-code", "{\"session_id\":\"../../x\"}", "the event names no session"),
    ] {
        let told = cli.run_with(&["hook", client, "session-start"], input).json();
        let words = told["systemMessage"].as_str().unwrap();
        assert!(words.contains(why) && words.contains("`herma doctor`"), "{words}");
        assert_eq!(told.as_object().unwrap().len(), 1, "{told}");
    }
    for (arguments, input) in [
        (&["hook", "claude-code", "stop"][..], "{\"session_id\":\"a\"}"),
        (&["hook", "claude-code", "user-prompt-submit"], "no JSON"),
        (&["hook", "claude-code", "an-event-of-tomorrow"], "{}"),
        (&["hook", "another-client", "stop"], "{}"),
        (&["hook"], ""),
    ] {
        assert_eq!(cli.run_with(arguments, input).done(), "", "{arguments:?} {input}");
    }
    let daemon = Daemon::start(&home);
    let directory = json!({ "transcript_path": home.path() });
    assert_eq!(client.hook("stop", &directory).done(), "");
    kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::STOP).unwrap();
    let began = Instant::now();
    // As it is when nobody says another time.
    client.timeout = "";
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The next ones don't wait for it, and what they would have kept is read later.
    client.timeout = "30000";
    client.say("said while it was frozen");
    let began = Instant::now();
    for _ in 0..5 {
        assert_eq!(client.hook("stop", &json!({})).done(), "");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::CONT).unwrap();
    let log = client.log();
    assert!(log.contains("it was given up after"), "{log}");
    assert_eq!(log.matches("given up").count(), 1, "each hook waited: {log}");
    // After a few seconds it is asked again.
    let kept = || {
        drop(client.hook("stop", &json!({})).done());
        messages(&home, &format!("claude-code:{ID}"))
    };
    herma_tests::eventually("what was said is kept", || (kept() == Some(2)).then_some(()));
}

#[test]
fn a_transcript_that_is_not_where_the_client_says_is_found_or_missed_aloud() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    let projects = home.path().join("projects");
    let (main, worktree) = (projects.join("-w-repo"), projects.join("-w-repo--claude-worktrees-feat"));
    fs::create_dir_all(&main).unwrap();
    client.transcript = main.join(format!("{ID}.jsonl"));
    client.say("said in a worktree");
    let said = json!({ "transcript_path": worktree.join(format!("{ID}.jsonl")) });
    for event in ["session-start", "user-prompt-submit", "stop", "session-end"] {
        drop(client.hook(event, &said).done());
    }
    assert_eq!(messages(&home, &format!("claude-code:{ID}")), Some(2));
    assert_eq!(client.log().matches("it is read at").count(), 1, "{}", client.log());
    let nowhere = json!({ "session_id": "nowhere", "transcript_path": worktree.join("nowhere.jsonl") });
    for event in ["session-start", "user-prompt-submit"] {
        drop(client.hook(event, &nowhere).done());
    }
    assert!(!client.log().contains("nowhere"), "nothing was said yet: {}", client.log());
    for _ in 0..2 {
        drop(client.hook("stop", &nowhere).done());
    }
    assert_eq!(client.log().matches("nothing of the session is kept").count(), 1, "{}", client.log());
}

/// When the daemon is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Before,
    /// While the hook waits for its answer, so long after it was started.
    In(u64),
    After,
}

#[test]
fn a_daemon_that_is_killed_before_in_and_after_each_hook_costs_nothing() {
    let home = Home::new();
    let mut client = Client::new(&home);
    client.timeout = "1500";
    client.hermad = Some("/no/such/program");
    let output = json!({ "tool_name": "Bash", "tool_use_id": "t", "tool_response": { "stdout": "x".repeat(40_000) } });
    let mut daemon = Daemon::start(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for (event, more) in [
        ("session-start", json!({ "source": "resume" })),
        ("user-prompt-submit", json!({ "prompt": "go" })),
        ("post-tool-use", output),
        ("pre-compact", json!({ "trigger": "auto" })),
        ("session-start", json!({ "source": "compact" })),
        ("stop", json!({})),
        ("session-end", json!({ "reason": "other" })),
    ] {
        for killed in [Killed::Before, Killed::In(3), Killed::In(30), Killed::After] {
            for number in 0..6 {
                client.say(&format!("look at host db-{number} before {event}, {killed:?}"));
            }
            if killed == Killed::Before {
                daemon.kill();
                assert_quiet(&client.hook(event, &more), event);
            } else if let Killed::In(pause_ms) = killed {
                kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::STOP).unwrap();
                std::thread::scope(|scope| {
                    let hook = scope.spawn(|| client.hook(event, &more));
                    // Where in the hook that is is left to chance on purpose.
                    std::thread::sleep(Duration::from_millis(pause_ms));
                    daemon.kill();
                    assert_quiet(&hook.join().unwrap(), event);
                });
            } else {
                assert_quiet(&client.hook(event, &more), event);
                daemon.kill();
            }
            daemon = Daemon::start(&home);
        }
    }
    // What was said is there, each message once; the compaction in between began further lists.
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    let found = |words: &str| {
        let cli = Cli::new(&home);
        let hits =
            cli.run(&["recall", words, "--session", &format!("claude-code:{ID}"), "--limit", "100", "--json"]).json();
        let hits = hits["hits"].as_array().unwrap().clone();
        // The handoff of the compaction says some of it too.
        let own = |hit: &&Value| {
            ["look at", "done: look at"].iter().any(|words| hit["snippet"].as_str().unwrap().starts_with(words))
        };
        hits.iter().filter(own).count()
    };
    for event in ["user-prompt-submit", "post-tool-use", "pre-compact", "stop", "session-end"] {
        for killed in [Killed::Before, Killed::In(3), Killed::After] {
            let words = format!("\"before {event}, {killed:?}\"");
            // Six things that the user said, and six that the model answered.
            assert_eq!(found(&words), 12, "{words}");
        }
    }
}

/// A hook whose daemon goes away says nothing, or all of it, and never fails.
fn assert_quiet(ran: &Ran, event: &str) {
    assert_eq!(ran.code, 0, "{event}: {ran:?}");
    let is_whole = ran.out.is_empty() || event == "pre-compact" || serde_json::from_str::<Value>(&ran.out).is_ok();
    assert!(is_whole, "{event}: {ran:?}");
}

#[test]
fn a_large_output_is_kept_and_its_preview_goes_to_the_model() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let client = Client::new(&home);
    let folder = client.transcript.with_extension("").join("tool-results");
    fs::create_dir_all(&folder).unwrap();
    let whole = folder.join("whole.txt");
    fs::write(&whole, "the whole line\n".repeat(10_000)).unwrap();
    let response =
        json!({ "stdout": "cut", "stderr": "", "persistedOutputPath": whole, "persistedOutputSize": 150_000 });
    let event = json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_response": response });
    let told: Value = serde_json::from_str(&client.hook("post-tool-use", &event).done()).unwrap();
    let output = &told["hookSpecificOutput"]["updatedToolOutput"];
    let preview = output["stdout"].as_str().unwrap();
    assert!(preview.contains("150,000 characters") && preview.contains("`output_read`"), "{told}");
    assert!(!preview.contains("read_file"), "a tool that the client has not: {told}");
    assert_eq!((&output["stderr"], output.get("persistedOutputPath")), (&json!(""), None));
    let small = json!({ "tool_name": "Bash", "tool_use_id": "t2", "tool_response": { "stdout": "small" } });
    assert_eq!(client.hook("post-tool-use", &small).done(), "");
}

#[test]
fn half_a_character_in_an_event_takes_nothing_of_it() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home).with("HERMA_HOOK_TIMEOUT_MS", "30000");
    let prompt = r#"{"session_id":"e1","prompt":"cut \ud83d"}"#;
    assert!(cli.run_with(&["hook", "claude-code", "user-prompt-submit"], prompt).done().contains("recall_search"));
    let output = format!(
        r#"{{"session_id":"e2","tool_name":"Bash","tool_use_id":"1","tool_response":{{"stdout":"{}\ud83d"}}}}"#,
        "y".repeat(40_000)
    );
    assert!(cli.run_with(&["hook", "claude-code", "post-tool-use"], &output).done().contains("persisted-output"));
}

/// Pipes stand where a hook reads and writes.
#[test]
fn a_hook_waits_for_no_pipe() {
    let pipe = |path: &std::path::Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    for name in [
        "herma/hermad.log",
        "herma/clients/claude-code/a.json",
        "herma/clients/claude-code/a.lock",
        "herma/clients/frozen",
        "projects/w/a.jsonl",
    ] {
        let home = Home::new();
        let daemon = (!name.ends_with("log")).then(|| Daemon::start(&home));
        pipe(&home.path().join(name));
        let transcript = home.path().join("projects/w/a.jsonl");
        let event = json!({ "session_id": "a", "transcript_path": transcript }).to_string();
        let began = Instant::now();
        let cli = Cli::new(&home).with("HERMAD", "/no/such/program").with("HERMA_HOOK_TIMEOUT_MS", "20000");
        for hook in ["session-start", "stop"] {
            drop(cli.run_with(&["hook", "claude-code", hook], &event).done());
        }
        assert!(began.elapsed() < Duration::from_secs(15), "{name}: {:?}", began.elapsed());
        drop(daemon);
    }
}
