//! Hooks of pi, whose extension sends its own entries and takes a summary.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use super::{Client, ID, row};

/// Returns an entry of pi, and writes it into the transcript.
fn entry(client: &Client<'_>, number: usize, message: &Value) -> Value {
    let entry = json!({
        "type": "message", "id": format!("e{number}"), "parentId": null, "timestamp": "2026-11-27T05:00:00.000Z",
        "message": message,
    });
    client.write(&entry);
    entry
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": [{ "type": "text", "text": text }] })
}

#[test]
fn a_compaction_is_a_handoff_and_the_entry_from_which_the_rest_stays() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let client = Client { agent: "pi", ..Client::new(&home) };
    let first =
        client.context("session-start", &json!({ "source": "startup", "model": "m", "context_window": 50_000 }));
    assert!(first.contains("likes tea"), "{first}");
    let mut entries = vec![entry(
        &client,
        0,
        &said("user", "Never push to main. The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"),
    )];
    for number in 1..80 {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        entries.push(entry(
            &client,
            number,
            &said(role, &format!("look at host db-{number}. {}", "word ".repeat(200))),
        ));
    }
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    let asked = json!({ "messages": entries, "context_window": 50_000, "custom_instructions": "the hosts" });
    let answer: Value = serde_json::from_str(&client.hook("compact", &asked).done()).unwrap();
    let summary = answer["summary"].as_str().unwrap();
    assert!(summary.contains("Never push to main.") && !summary.contains("sk-ant"), "{summary}");
    let first_kept = answer["firstKeptEntryId"].as_str().unwrap();
    let at = entries.iter().position(|entry| entry["id"] == first_kept).unwrap();
    assert!((20..79).contains(&at), "{at}");
    // What is before the first kept entry is in the archive, and what is after it is not said twice.
    let last = format!("look at host db-{}. ", entries.len() - 1);
    assert!(!summary.contains(&last), "{summary}");
    let after = client.context("session-start", &json!({ "source": "compact" }));
    assert!(
        after.contains("likes tea") && !after.contains("Never push to main."),
        "the handoff has the rules: {after}"
    );
    let row = row(&daemon, &format!("pi:{ID}"));
    assert_eq!((row.generation, row.context_length), (1, Some(50_000)));
    assert_eq!(client.log(), "");
    // A conversation of which pi has nothing that herma knows keeps its end.
    let odd = json!({ "messages": [{ "type": "message" }, 7, { "id": "x" }] });
    assert_eq!(client.hook("compact", &odd).done(), "");
    assert!(client.log().contains("compacts by itself: "), "{}", client.log());
}

#[test]
fn a_large_output_becomes_a_preview_and_small_ones_stay() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let client = Client { agent: "pi", ..Client::new(&home) };
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    let event =
        |text: &str| json!({ "tool_name": "bash", "tool_use_id": "1", "tool_response": text, "shown_chars": 12_000 });
    assert_eq!(client.hook("post-tool-use", &event("small")).done(), "");
    let long = (0..10_000).map(|number| format!("line {number}\n")).collect::<String>();
    let answer: Value = serde_json::from_str(&client.hook("post-tool-use", &event(&long)).done()).unwrap();
    let text = answer["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap();
    assert!(text.contains("line 9999") && text.contains("`read`") && text.len() < 4_000, "{text}");
    assert_eq!(client.log(), "");
}
