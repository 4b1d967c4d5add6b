//! What hooks keep of a session: no secrets and no private parts, and what its transcript says about it.

use std::fs;

use herma_protocol::Json;
use herma_protocol::memory::Target;
use herma_protocol::output::AdmitParams;
use herma_protocol::session::OpenParams;
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::value::Content;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

use super::{Client, ID, row};

const SECRET: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
const PRIVATE: &str = "the heron is called Ottokar";

/// Returns the files of herma that contain a text.
fn files_with(home: &Home, text: &str) -> Vec<String> {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()));
    let ours = home.files().into_iter().filter(|path| path.strip_prefix(home.path()).unwrap().starts_with("herma"));
    let found = ours.filter(|path| fs::read(path).is_ok_and(|bytes| has(&bytes)));
    found.map(|path| path.display().to_string()).collect()
}

#[test]
fn secrets_and_private_parts_are_in_no_file() {
    for (config, keeps_secrets) in [("", false), ("[archive]\nredact = false\n", true)] {
        let home = Home::new();
        fs::create_dir_all(home.path().join("herma")).unwrap();
        fs::write(home.path().join("herma/config.toml"), config).unwrap();
        let daemon = Daemon::start(&home);
        let mut client = Client::new(&home);
        drop(client.hook("session-start", &json!({ "source": "startup" })).done());
        client.say(&format!("take {SECRET} <private>{PRIVATE}</private> and look"));
        let command = json!([{ "type": "tool_use", "id": "1", "name": "Bash",
                               "input": { "command": format!("export KEY={SECRET} # <private>{PRIVATE}</private>") } }]);
        client.write(
            &json!({ "type": "assistant", "uuid": "c", "message": { "role": "assistant", "content": command } }),
        );
        client.write(&json!({ "type": "ai-title", "sessionId": ID, "aiTitle": format!("Use {SECRET}") }));
        let output = format!("{}\nKEY={SECRET}\n<private>{PRIVATE}</private>\n", "row of the output\n".repeat(3_000));
        let response = json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
        let event = json!({ "tool_name": "Bash", "tool_use_id": "1", "tool_input": {}, "tool_response": response });
        let answer = client.hook("post-tool-use", &event).done();
        assert!(answer.contains("persisted-output"), "{answer}");
        drop(client.hook("session-end", &json!({ "reason": "other" })).done());
        assert_eq!(row(&daemon, &format!("claude-code:{ID}")).messages, 3);
        assert_eq!(client.log(), "");
        daemon.kill();
        assert_eq!(files_with(&home, PRIVATE), Vec::<String>::new());
        assert_eq!(files_with(&home, SECRET).is_empty(), !keeps_secrets, "{config:?}");
    }
}

#[test]
fn no_field_and_no_part_of_a_captured_session_keeps_a_secret() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let session = "captured".to_owned();
    let open = OpenParams { session: session.clone(), captured: Some(true), ..OpenParams::default() };
    let generation = client.session_open(open).unwrap().generation;
    let json = |value: &Value| Json::parse(value.to_string()).unwrap();
    let long = format!("{}\nKEY={SECRET}\n<private>{PRIVATE}</private>\n", "row of the output\n".repeat(9_000));
    let messages = [
        json!({ "role": "assistant", "content": "yes", "reasoning_content": format!("it is {SECRET}") }),
        json!({ "role": "tool", "tool_call_id": "1", "content": { "stdout": SECRET, "notes": [format!("<private>{PRIVATE}</private>")] } }),
    ];
    let append = AppendParams {
        session: session.clone(),
        generation,
        position: 0,
        messages: messages.iter().map(json).collect(),
    };
    client.session_append(append).unwrap();
    let admit = AdmitParams {
        session,
        tool: "terminal".into(),
        id: "call_1".into(),
        content: Content::Parts(vec![json(&json!({ "type": "text", "text": long }))]),
        threshold: None,
        config: None,
    };
    assert!(client.output_admit(admit).unwrap().spilled);
    daemon.kill();
    assert_eq!([PRIVATE, SECRET].map(|text| files_with(&home, text)), [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn a_session_is_known_by_what_its_transcript_says() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup", "model": "m", "cwd": "/work" })).done());
    let session = format!("claude-code:{ID}");
    let begun = row(&daemon, &session);
    assert_eq!((begun.model.as_deref(), begun.cwd.as_deref()), (Some("m"), Some("/work")));
    for (number, model, branch) in [(1, "claude-a", "main"), (2, "claude-b", "retry")] {
        client.say("look");
        let usage = json!({ "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100 });
        let message = json!({ "id": format!("msg_{number}"), "role": "assistant", "model": model, "usage": usage,
                              "content": [{ "type": "text", "text": "seen" }] });
        client.write(&json!({ "type": "assistant", "uuid": format!("a{number}"), "cwd": "/work", "gitBranch": branch,
                              "timestamp": "2026-11-27T05:30:00Z", "message": message }));
        drop(client.hook("stop", &json!({})).done());
    }
    drop(client.hook("session-end", &json!({ "reason": "other" })).done());
    // Claude Code writes the title when it likes. The session stays closed.
    client.write(&json!({ "type": "ai-title", "sessionId": ID, "aiTitle": "The retry in the sync" }));
    let other =
        json!({ "session_id": "other", "transcript_path": home.path().join("other.jsonl"), "source": "startup" });
    drop(client.hook("session-start", &other).done());
    let known = row(&daemon, &session);
    assert_eq!((known.model.as_deref(), known.branch.as_deref()), (Some("claude-b"), Some("retry")));
    assert_eq!((known.usage.calls, known.usage.total), (2, 230));
    assert_eq!((known.title.as_deref(), known.end_reason.as_deref()), (Some("The retry in the sync"), Some("other")));
    let listed = Cli::new(&home).run(&["session", "list"]);
    assert!(listed.out.contains("The retry in the sync") && listed.out.contains("claude-b"), "{listed:?}");
}

#[test]
fn a_masked_message_does_not_replace_the_agents_own_row() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for number in 0..30 {
        client.say(&format!("look at host db-{number}: {}", "word ".repeat(2_000)));
    }
    client.say(&format!("take {SECRET} <private>{PRIVATE}</private> and look"));
    let rows = client.rows();
    let answer = client.hook("compact", &json!({ "messages": rows, "trigger": "manual" })).done();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let kept = answer["messages"].as_array().unwrap();
    let newest: Vec<&Value> = rows[rows.len() - 2..].iter().map(|row| &row["handle"]).collect();
    assert_eq!(kept[kept.len() - 2..].iter().map(|row| &row["handle"]).collect::<Vec<_>>(), newest, "{answer}");
    assert!(!answer.to_string().contains("[private]"), "{answer}");
}
