//! What hooks report to the ledger.

use std::fs;

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

use super::{Client, ID};

#[test]
fn the_ledger_has_each_change_and_each_call_once() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    home.write_store(Target::User, b"likes tea");
    let mut client = Client::new(&home);
    let savings = || Cli::new(&home).run(&["usage", "--savings", "--json"]).json();
    assert_eq!(savings()["rows"], json!([]));
    let answer = client.context("session-start", &json!({ "source": "startup" }));
    let call = |id: &str, second: u32| {
        let usage = json!({ "input_tokens": 0, "cache_creation_input_tokens": 500, "cache_read_input_tokens": 9_500,
                            "output_tokens": 100 });
        let message =
            json!({ "role": "assistant", "id": id, "model": "m", "content": format!("look {second}"), "usage": usage });
        let time = format!("2099-11-27T05:00:{second:02}Z");
        json!({ "type": "assistant", "uuid": format!("u-{second}"), "timestamp": time, "message": message })
    };
    client.say("Look at the host.");
    // Claude Code writes one record for each block of an answer.
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
    assert_eq!(row["context"]["added"], answer.chars().count().div_ceil(4), "{row}");
    assert_eq!(row["outputs"]["removed"], 10_000, "{row}");
    assert!(preview.len() < 4_000 && row["outputs"]["added"].as_u64() < Some(1_000), "{row}");
    assert!(row["outputs"]["cost"].as_i64() < Some(-9_000), "{row}");
    // Twice: 500 tokens are written at 1.25, 9,500 are read at 0.1, and 100 are output at 5.
    assert_eq!(row["cost"], 2 * (625 + 950 + 500), "{row}");
    assert_eq!(
        row["difference"].as_i64(),
        row["cost"].as_i64().zip(row["without_herma"].as_i64()).map(|(one, other)| one - other)
    );
    // Records that are read again are not counted again.
    fs::remove_file(home.path().join(format!("herma/clients/claude-code/{ID}.json"))).unwrap();
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    assert_eq!(savings(), found);
    let used = Cli::new(&home).run(&["usage", "--by", "session", "--json"]).json();
    assert_eq!((&used["total"]["calls"], &used["total"]["prompt"]), (&json!(2), &json!(20_000)), "{used}");
    let text = Cli::new(&home).run(&["usage", "--savings"]).done();
    assert!(text.contains("herma saved") && text.contains("previews of large outputs"), "{text}");
    // A compaction by the client starts another window.
    drop(client.hook("pre-compact", &json!({ "trigger": "auto" })).done());
    drop(client.context("session-start", &json!({ "source": "compact" })));
    assert_eq!(counts(&savings()["total"]), [0, 2, 1, 1, 0, 1].map(Value::from));
    assert_eq!(client.log(), "");
}
