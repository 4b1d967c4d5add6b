//! Requests about recall.

use serde_json::{Value, json};

use super::{Talk, conversation};

/// Adds a message, an output and an entry that all mention a heron.
fn remember(talk: &mut Talk) {
    talk.ask("session.open", json!({ "session": "s", "agent": "a" }));
    let messages = json!([
        { "role": "user", "content": "where does the blue heron nest?" },
        { "role": "assistant", "content": "the heron — a blue one — nests in Zürich" },
        { "role": "user", "content": "and the stork?" },
    ]);
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    let content = format!("{}a heron was seen\n{}", "reeds\n".repeat(30), "more reeds\n".repeat(30));
    let output = json!({ "session": "s", "tool": "terminal", "id": "c1", "content": content, "threshold": 0 });
    talk.ask("output.admit", output);
    talk.ask("memory.add", json!({ "target": "user", "content": "likes the blue heron", "session": "s" }));
}

fn handle_of(result: &Value) -> Value {
    result["hits"][0]["handle"].clone()
}

pub(super) fn search(talk: &mut Talk) {
    talk.ask("recall.search", json!({ "query": "heron" }));
    remember(talk);
    talk.ask("recall.search", json!({ "query": "heron" }));
    talk.ask("recall.search", json!({ "query": "Zürich HERON", "session": "s", "kinds": ["message"] }));
    talk.ask("recall.search", json!({ "query": "\"blue heron\"", "limit": 1 }));
    talk.ask("recall.search", json!({ "query": "heron", "kinds": ["output", "memory"] }));
    talk.ask("recall.search", json!({ "query": "heron", "since": 1.5, "until": 2.5 }));
    for around in [0, 1, 5, 6] {
        talk.ask("recall.search", json!({ "query": "heron", "around": around }));
    }
    talk.ask("recall.search", json!({ "query": "flamingo" }));
    talk.ask("recall.search", json!({ "query": "heron", "session": "nobody" }));
    talk.ask("recall.search", json!({ "query": "heron AND (NOT \"* OR near:" }));
    talk.ask("recall.search", json!({ "query": "heron", "kinds": [] }));
    talk.ask("recall.search", json!({ "query": "" }));
    talk.ask("recall.search", json!({ "query": "heron", "limit": 0 }));
    talk.ask("recall.search", json!({ "query": "heron", "limit": 101 }));
}

pub(super) fn expand(talk: &mut Talk) {
    remember(talk);
    for kind in ["message", "output", "memory"] {
        let found = talk.ask("recall.search", json!({ "query": "heron", "kinds": [kind] }));
        let handle = handle_of(&found);
        talk.ask("recall.expand", json!({ "handle": handle }));
        talk.ask("recall.expand", json!({ "handle": handle, "before": 0, "after": 0 }));
        talk.ask("recall.expand", json!({ "handle": handle, "before": 101 }));
    }
    talk.ask("context.configure", json!({ "session": "c", "context_length": 9000 }));
    let compressed = talk.ask("context.compress", json!({ "session": "c", "messages": conversation() }));
    let handle = compressed["report"]["archived"]["handle"].clone();
    let page = talk.ask("recall.expand", json!({ "handle": handle, "after": 3 }));
    talk.ask("recall.expand", json!({ "handle": page["next"], "after": 3 }));
    for handle in ["", "heron", "msg_none", "mem_none", "out_none:7", "cmp_none_1"] {
        talk.ask("recall.expand", json!({ "handle": handle }));
    }
}

pub(super) fn describe(talk: &mut Talk) {
    talk.ask("context.configure", json!({ "session": "c", "context_length": 9000 }));
    talk.ask("recall.describe", json!({ "session": "c" }));
    talk.ask("context.compress", json!({ "session": "c", "messages": conversation() }));
    talk.ask("recall.describe", json!({ "session": "c" }));
    talk.ask("recall.describe", json!({ "session": "nobody" }));
    talk.ask("recall.describe", json!({ "session": "" }));
}

pub(super) fn state(talk: &mut Talk) {
    talk.ask("session.open", json!({ "session": "s", "agent": "a" }));
    let call = json!({ "id": "1", "type": "function", "function": { "name": "get_order", "arguments": "{\"order_id\": \"A-1177\"}" } });
    let messages = json!([
        { "role": "user", "content": "where is A-1177?" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "1", "content": "{\"order_id\": \"A-1177\", \"status\": \"paid\", \"to\": \"Zürich\"}" },
    ]);
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    talk.ask("recall.state", json!({ "session": "s" }));
    talk.ask("recall.state", json!({ "session": "s", "entity": "a-11", "limit": 1 }));
    talk.ask("recall.state", json!({ "session": "s", "entity": "nothing" }));
    talk.ask("recall.state", json!({ "session": "nobody" }));
    talk.ask("recall.state", json!({ "session": "s", "limit": 0 }));
    talk.ask("recall.state", json!({ "session": "s", "limit": 501 }));
    talk.ask("recall.state", json!({ "session": "s", "entity": "x".repeat(1_001) }));
}

pub(super) fn ask(talk: &mut Talk) {
    remember(talk);
    talk.ask("recall.ask", json!({ "question": "where does the heron nest?", "session": "s" }));
    talk.ask("recall.ask", json!({ "question": "what of flamingos?", "session": "s", "tokens": 500 }));
    talk.ask("recall.ask", json!({ "question": "where?", "session": "nobody" }));
    talk.ask("recall.ask", json!({ "question": "where?", "node": "nod_none_1" }));
    talk.ask("recall.ask", json!({ "question": "where?" }));
    talk.ask("recall.ask", json!({ "question": "where?", "session": "s", "node": "nod_none_1" }));
    talk.ask("recall.ask", json!({ "question": " ", "session": "s" }));
    talk.ask("recall.ask", json!({ "question": "where?", "session": "s", "tokens": 499 }));
    talk.ask("recall.ask", json!({ "question": "where?", "session": "s", "summarizer": "client" }));
    talk.ask("recall.ask", json!({ "question": "where?", "session": "s", "summarizer": "openai" }));
}

pub(super) fn schema(talk: &mut Talk) {
    talk.ask("recall.schema", json!({}));
}
