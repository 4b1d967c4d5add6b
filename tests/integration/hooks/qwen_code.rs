//! Hooks of Qwen Code, where they differ from those of Claude Code.

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

use super::{Client, ID, row};

/// Writes a message of the user or of the model into the transcript.
fn say(client: &Client<'_>, number: usize, text: &str) {
    let (kind, from) = if number.is_multiple_of(2) { ("user", "real_user") } else { ("assistant", "assistant_output") };
    client.write(&json!({
        "uuid": format!("u{number}"), "sessionId": ID, "timestamp": format!("2026-11-27T05:00:{:02}Z", number % 60),
        "type": kind, "provenance": from, "cwd": "/work", "message": { "parts": [{ "text": text }] },
    }));
}

#[test]
fn a_resumed_session_gets_its_context_again_and_a_compacted_one_its_rules() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let client = Client { agent: "qwen-code", ..Client::new(&home) };
    let context = |event: &str, more: &Value| client.context(event, more);
    let resumed = json!({ "source": "resume" });
    let first = context("session-start", &json!({ "source": "startup", "model": "m" }));
    assert!(first.contains("likes tea"), "{first}");
    // A prompt without words follows each result of a tool.
    assert_eq!(client.hook("user-prompt-submit", &json!({ "prompt": "" })).done(), "");
    say(&client, 0, "Never push to main.");
    for number in 1..20 {
        say(&client, number, &format!("look at host db-{number}, port {}", 8000 + number));
    }
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    assert_eq!(context("session-start", &resumed), first, "a new process has a new system prompt");
    let answer: Value =
        serde_json::from_str(&client.hook("pre-compact", &json!({ "trigger": "auto" })).done()).unwrap();
    let asked = &answer["hookSpecificOutput"];
    let words = asked["additionalContext"].as_str().unwrap();
    assert!(asked["hookEventName"] == "PreCompact" && words.contains("Never push to main."), "{answer}");
    let after = context("session-start", &json!({ "source": "compact" }));
    assert!(after.contains("Never push to main.") && after.contains("likes tea"), "{after}");
    assert_eq!(context("session-start", &resumed), after, "a resumed session that was compacted");
    let row = row(&daemon, &format!("qwen-code:{ID}"));
    assert_eq!((row.generation, row.cwd.as_deref()), (1, Some("/work")));
    assert_eq!(client.log(), "");
}

#[test]
fn a_large_output_stays_as_it_is_because_a_replacement_is_ignored() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let client = Client { agent: "qwen-code", ..Client::new(&home) };
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    let long = "x".repeat(100_000);
    for (tool, response) in [
        ("run_shell_command", json!({ "llmContent": long, "returnDisplay": "x" })),
        ("mcp__other__x", json!({ "llmContent": [{ "text": long }] })),
    ] {
        let event = json!({ "tool_name": tool, "tool_use_id": "1", "tool_response": response });
        assert_eq!(client.hook("post-tool-use", &event).done(), "", "{tool}");
    }
    assert!(Cli::new(&home).run(&["output", "list", "--json"]).json()["outputs"].as_array().unwrap().is_empty());
}
