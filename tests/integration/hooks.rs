//! `herma hook`, as agents call it at the events of a session. `tests/agents` runs the real agents.

mod captures;
mod compactions;
mod earlier;
mod failures;
mod ledger;
mod opencode;
mod pi;
mod qwen_code;
mod transcripts;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use herma_protocol::memory::Target;
use herma_protocol::session::chain::ShowParams;
use herma_tests::{Cli, CommandOutput, Daemon, Home};
use serde_json::{Value, json};

const ID: &str = "0b5f1c1e-0000-4000-8000-000000000001";

/// A session of an agent: its home and its transcript.
struct Client<'a> {
    home: &'a Home,
    agent: &'static str,
    transcript: PathBuf,
    said: usize,
    /// Milliseconds that a hook may take. There are many, because other tests run at the same time.
    timeout: &'static str,
    /// The program to start if no daemon runs, instead of the tested one.
    hermad: Option<&'static str>,
}

impl<'a> Client<'a> {
    fn new(home: &'a Home) -> Self {
        let transcript = home.path().join(format!("{ID}.jsonl"));
        Self { home, agent: "claude-code", transcript, said: 0, timeout: "30000", hermad: None }
    }

    fn hook(&self, event: &str, more: &Value) -> CommandOutput {
        let mut input = json!({ "session_id": ID, "transcript_path": self.transcript });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut cli = Cli::new(self.home).with("HERMA_HOOK_TIMEOUT_MS", self.timeout);
        if let Some(program) = self.hermad {
            cli = cli.with("HERMAD", program);
        }
        cli.run_with(&["hook", self.agent, event], &input.to_string())
    }

    fn context(&self, event: &str, more: &Value) -> String {
        let answer: Value = serde_json::from_str(&self.hook(event, more).done()).unwrap();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    /// Adds a message of the user and the model's answer to the transcript.
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

    /// Returns the conversation as the rows that Claude Code gives its plugin.
    fn rows(&self) -> Vec<Value> {
        let lines = fs::read_to_string(&self.transcript).unwrap();
        let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let row = |record: Value| {
            let message = &record["message"];
            json!({ "role": message["role"], "text": message["content"], "toolUses": [], "handle": record["uuid"] })
        };
        records.map(row).collect()
    }
}

fn row(daemon: &Daemon, session: &str) -> herma_protocol::session::chain::Row {
    daemon.client().session_show(ShowParams { session: session.into() }).unwrap()
}

fn messages(home: &Home, session: &str) -> Option<u64> {
    let shown = Cli::new(home).run(&["session", "show", "--json", session]);
    (shown.code == 0).then(|| shown.json()["messages"].as_u64().unwrap())
}

#[test]
fn a_session_begins_with_what_is_known_and_ends_kept() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    let context = client.context("session-start", &json!({ "source": "startup", "model": "m" }));
    assert!(context.contains("likes tea") && context.contains("recall_search"), "{context}");
    assert_eq!(client.hook("session-start", &json!({ "source": "resume" })).done(), "", "the model gets it twice");
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
    // A rule that the user removed is not extracted from earlier messages again.
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
    let answer = client.hook("session-start", &json!({ "source": "compact" })).json();
    assert_eq!(
        answer.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["systemMessage"],
        "the model sees it: {answer}"
    );
    let _daemon = Daemon::start(&home);
    let context = client.context("user-prompt-submit", &json!({ "prompt": "go on" }));
    assert!(context.contains("never push to main") && context.contains("likes tea"), "{context}");
    assert_eq!(client.hook("user-prompt-submit", &json!({ "prompt": "and" })).done(), "", "the model gets it twice");
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
    let answer: Value = serde_json::from_str(&client.hook("post-tool-use", &event).done()).unwrap();
    let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let preview = output["stdout"].as_str().unwrap();
    assert!(preview.contains("150,000 characters") && preview.contains("`output_read`"), "{answer}");
    assert!(!preview.contains("read_file"), "a tool that the client has not: {answer}");
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
