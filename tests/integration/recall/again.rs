//! Recalled text is not found again as if it were new.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

use super::{say, search};

fn append(raw: &mut Raw, session: &str, position: usize, messages: &Value) {
    let params = json!({ "session": session, "generation": 0, "position": position, "messages": messages });
    let count = messages.as_array().unwrap().len();
    assert_eq!(raw.result("session.append", &params)["position"], json!(position + count), "its place is counted");
}

fn call(id: &str, tool: &str) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "type": "function", "function": { "name": tool, "arguments": "{}" } }] })
}

#[test]
fn a_result_of_recall_is_not_found_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    say(&mut raw, "s", &["the walrus sings at noon"]);
    let found = raw.result("recall.search", &json!({ "query": "walrus" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    let expanded = raw.result("recall.expand", &json!({ "handle": found["hits"][0]["handle"] }));
    let tool = |id: &str, content: &Value| json!({ "role": "tool", "tool_call_id": id, "content": content });
    append(
        &mut raw,
        "s",
        1,
        &json!([
            // It is recognized by the called tool, whatever the result looks like,
            call("c1", "recall_search"),
            tool("c1", &json!("1 hit: the walrus sings at noon")),
            // by the content of the result,
            call("c2", "mcp_anything"),
            tool("c2", &json!(found.to_string())),
            call("c3", "mcp_anything"),
            tool("c3", &json!(format!("{expanded:#}"))),
            json!({ "role": "user", "content": expanded.to_string() }),
            // and by the name of the message.
            json!({ "role": "tool", "tool_call_id": "c9", "name": "recall_expand", "content": "the walrus sings at noon" }),
        ]),
    );
    append(&mut raw, "other", 0, &json!([json!({ "role": "user", "content": found.to_string() })]));
    let hits = search(&mut raw, &json!({ "query": "walrus" }));
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!(hits[0]["handle"], found["hits"][0]["handle"]);
    // A text that only looks similar is new.
    append(
        &mut raw,
        "s",
        9,
        &json!([
            call("c1", "terminal"),
            tool("c1", &json!("walrus in a terminal, under an id that was used before")),
            json!({ "role": "user", "content": "{\"recalled\": false, \"text\": \"walrus\"}" }),
            json!({ "role": "user", "content": "I \"recalled\": true, the walrus" }),
        ]),
    );
    assert_eq!(search(&mut raw, &json!({ "query": "walrus" })).len(), 4);
}
