//! Hooks of OpenCode, whose plugin sends the records of a session with its events.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use super::{Client, ID, row};

/// Returns the record of a message.
fn record(number: usize, text: &str) -> Value {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let time = json!({ "created": 1_767_225_600_000_u64, "completed": 1_767_225_600_000_u64 });
    let info = json!({ "id": format!("msg_{number:04}"), "role": role, "time": time, "modelID": "m" });
    json!({ "id": info["id"], "key": info["id"], "info": info, "parts": [{ "type": "text", "text": text }] })
}

/// Sends records, and returns the id of the last one that is kept.
fn keep(client: &Client<'_>, records: &[Value]) -> String {
    let answer: Value = serde_json::from_str(&client.hook("stop", &json!({ "records": records })).done()).unwrap();
    answer["kept"].as_str().unwrap().to_owned()
}

#[test]
fn records_are_kept_once_and_the_answer_says_up_to_which() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let client = Client { agent: "opencode", ..Client::new(&home) };
    let about = json!({ "session": { "title": "Birds", "directory": "/w", "parentID": "p" } });
    let start = json!({ "source": "startup", "parent_session_id": "p" });
    assert!(client.context("session-start", &start).contains("recall_search"));
    assert_eq!(keep(&client, &[]), "");
    assert_eq!(keep(&client, &[about.clone(), record(1, "a heron"), record(2, "a stork")]), "msg_0002");
    // Another process of the agent sends all again, and what is new.
    let again = [about, record(1, "a heron"), record(2, "a stork"), record(3, "a crane"), json!(7), json!({ "id": 7 })];
    assert_eq!(keep(&client, &again), "msg_0003");
    assert_eq!(keep(&client, &[]), "msg_0003");
    let kept = row(&daemon, &format!("opencode:{ID}"));
    assert_eq!((kept.messages, kept.title.as_deref(), kept.cwd.as_deref()), (3, Some("Birds"), Some("/w")));
    assert_eq!(kept.parent.as_deref(), Some("opencode:p"));
    // Lost notes: the records are sent again from the first one, and are there once.
    std::fs::remove_file(home.path().join(format!("herma/clients/opencode/{ID}.json"))).unwrap();
    assert_eq!(keep(&client, &[record(1, "a heron"), record(2, "a stork"), record(3, "a crane")]), "msg_0003");
    assert_eq!(row(&daemon, &format!("opencode:{ID}")).messages, 3);
    assert_eq!(client.log(), "");
    // What was said differs: it is another session.
    std::fs::remove_file(home.path().join(format!("herma/clients/opencode/{ID}.json"))).unwrap();
    assert_eq!(keep(&client, &[record(1, "a gull")]), "msg_0001");
    assert_eq!(row(&daemon, &format!("opencode:{ID}~2")).messages, 1);
    assert!(client.log().contains("it is another session"), "{}", client.log());
    // Notes that are lost once more.
    std::fs::remove_file(home.path().join(format!("herma/clients/opencode/{ID}.json"))).unwrap();
    assert_eq!(keep(&client, &[record(1, "a tern")]), "msg_0001");
    assert_eq!(row(&daemon, &format!("opencode:{ID}~3")).messages, 1);
}

#[test]
fn a_compaction_is_the_handoff_and_texts_of_what_came_after_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let client = Client { agent: "opencode", ..Client::new(&home) };
    assert!(client.context("session-start", &json!({ "source": "startup" })).contains("likes tea"));
    let said = |number: usize| match number {
        0 => record(0, "Never push to main."),
        _ => record(number, &format!("look at host db-{number}. {}", "word ".repeat(200))),
    };
    keep(&client, &(0..80).map(said).collect::<Vec<_>>());
    let asked = json!({ "context_window": 50_000, "records": [record(80, "the last")] });
    let answer: Value = serde_json::from_str(&client.hook("compact", &asked).done()).unwrap();
    let (summary, last) = (answer["summary"].as_str().unwrap(), answer["last"].as_array().unwrap());
    assert!(summary.contains("Never push to main.") && !summary.contains("the last"), "{summary}");
    assert!((1..79).contains(&last.len()), "{}", last.len());
    assert_eq!(last.last().unwrap(), "[user] the last");
    let row = row(&daemon, &format!("opencode:{ID}"));
    assert_eq!((row.generation, row.messages), (1, 82));
    let after = client.context("session-start", &json!({ "source": "compact" }));
    assert!(
        after.contains("likes tea") && !after.contains("Never push to main."),
        "the handoff has the rules: {after}"
    );
    // The records go on behind the compaction.
    assert_eq!(keep(&client, &[record(81, "after it")]), "msg_0081");
    assert_eq!(client.log(), "");
}
