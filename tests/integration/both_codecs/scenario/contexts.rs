//! Requests about compressions, constraints and related methods.

use serde_json::json;

use super::{Talk, conversation};

pub(super) fn tools(talk: &mut Talk) {
    let tool = |name: &str| {
        let function =
            json!({ "name": name, "description": "Does ☕. ".repeat(300), "parameters": { "type": "object" } });
        json!({ "type": "function", "function": function })
    };
    let tools = json!([tool("a"), tool("b"), tool("c"), tool("d")]);
    let call = |name: &str, arguments: &str| {
        let call = json!({ "id": "1", "function": { "name": name, "arguments": arguments } });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    };
    let messages = json!([call("b", "{}"), call("open_tools", "{\"names\": [\"d\"]}"), call("b", "{}")]);
    talk.ask("context.tools", json!({ "session": "s", "tools": tools }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    talk.ask("context.tools", json!({ "session": "s", "tools": tools, "budget": 2000 }));
    talk.ask("context.tools", json!({ "session": "s", "tools": tools, "budget": 2000, "open": ["c"] }));
    talk.ask("context.tools", json!({ "session": "s", "tools": [] }));
    talk.ask("context.tools", json!({ "session": "s", "tools": [7, "x", {}], "budget": 0 }));
    talk.ask("context.tools", json!({ "session": "s", "tools": [tool("open_tools")] }));
    talk.ask("context.tools", json!({ "session": "", "tools": [] }));
}

pub(super) fn undo(talk: &mut Talk) {
    talk.ask("context.undo", json!({ "session": "nobody" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    talk.ask("context.undo", json!({ "session": "s" }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": conversation() }));
    talk.ask("context.undo", json!({ "session": "s" }));
    talk.ask("context.compress", json!({ "session": "s", "force": true }));
    talk.ask("context.undo", json!({ "session": "s", "dry_run": true }));
    talk.ask("context.undo", json!({ "session": "s", "generation": 7 }));
    talk.ask("context.undo", json!({ "session": "s", "messages": [{ "role": "user", "content": "☕" }] }));
    talk.ask("context.undo", json!({ "session": "s", "generation": 0 }));
    talk.ask("recall.describe", json!({ "session": "s" }));
}

pub(super) fn pin(talk: &mut Talk) {
    talk.ask("context.pin", json!({ "session": "s", "position": 0 }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": conversation() }));
    talk.ask("context.pin", json!({ "session": "s", "position": 0 }));
    talk.ask("context.pin", json!({ "session": "s", "position": 100_000 }));
    talk.ask("context.pin", json!({ "session": "s", "handle": "out_nowhere" }));
    talk.ask("context.pin", json!({ "session": "s", "message": { "role": "user", "content": "☕" } }));
    talk.ask("context.pin", json!({ "session": "s", "position": 1, "until": 5 }));
    talk.ask("context.pin", json!({ "session": "s", "position": 1, "handle": "x" }));
    talk.ask("context.pin", json!({ "session": "s" }));
}

pub(super) fn pins(talk: &mut Talk) {
    talk.ask("context.pins", json!({ "session": "nobody" }));
    talk.ask("session.open", json!({ "session": "s" }));
    talk.ask("context.pins", json!({ "session": "s" }));
}

pub(super) fn open(talk: &mut Talk) {
    talk.ask("context.open", json!({ "session": "nobody", "node": "nod_1_0" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000, "engine": "lossless" }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": conversation() }));
    talk.ask("context.open", json!({ "session": "s", "node": "nod_1_0" }));
    talk.ask("context.compress", json!({ "session": "s", "force": true }));
    let node = "nod_043a718774c5_0";
    talk.ask("context.open", json!({ "session": "s", "node": node }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 40_000 }));
    talk.ask(
        "context.open",
        json!({ "session": "s", "node": node, "messages": [{ "role": "user", "content": "☕" }] }),
    );
    talk.ask("context.open", json!({ "session": "s", "node": node }));
}

pub(super) fn fold(talk: &mut Talk) {
    open(talk);
    talk.ask("context.fold", json!({ "session": "s", "node": "nod_1_0" }));
    talk.ask("context.fold", json!({ "session": "s" }));
    talk.ask("context.fold", json!({ "session": "s" }));
}

pub(super) fn episode(talk: &mut Talk) {
    let open = json!({ "session": "s", "action": "open", "title": " the ☕\nmachine " });
    talk.ask("context.episode", open.clone());
    let list = conversation();
    talk.ask(
        "session.append",
        json!({ "session": "s", "generation": 0, "position": 0, "messages": [list[0], list[1]] }),
    );
    talk.ask("context.episode", open.clone());
    talk.ask("context.episode", open);
    talk.ask("context.episode", json!({ "session": "s", "action": "close", "title": "another" }));
    let close =
        json!({ "session": "s", "action": "close", "title": "the ☕ machine", "outcome": "☕", "messages": list });
    talk.ask("context.episode", close.clone());
    talk.ask("context.episode", close);
    talk.ask("context.episode", json!({ "session": "s", "action": "open", "title": "x", "outcome": "y" }));
}

pub(super) fn schema(talk: &mut Talk) {
    talk.ask("context.schema", json!({}));
}

pub(super) fn discard(talk: &mut Talk) {
    talk.ask("context.discard", json!({ "session": "s" }));
    talk.ask("context.discard", json!({ "session": "s", "positions": [0] }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": conversation() }));
    talk.ask("context.discard", json!({ "session": "s", "positions": [0] }));
    talk.ask("context.discard", json!({ "session": "s", "handles": ["out_nowhere"] }));
    talk.ask("context.discard", json!({ "session": "s", "calls": ["nothing ☕"] }));
    let output = json!({ "role": "tool", "tool_call_id": "1", "content": "☕".repeat(500) });
    talk.ask("context.discard", json!({ "session": "s", "messages": [output], "reason": "read" }));
}

pub(super) fn unpin(talk: &mut Talk) {
    talk.ask("context.unpin", json!({ "session": "s", "id": "pin_none" }));
    let message = json!({ "role": "user", "content": "☕" });
    let pinned = talk.ask("context.pin", json!({ "session": "s", "message": message }));
    talk.ask("context.unpin", json!({ "session": "s", "id": pinned["id"] }));
}

pub(super) fn check(talk: &mut Talk) {
    talk.ask("context.check", json!({ "session": "s" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    talk.ask("context.check", json!({ "session": "s" }));
    talk.ask("context.check", json!({ "session": "s", "tokens": 100 }));
    talk.ask("context.check", json!({ "session": "s", "tokens": 8999 }));
    talk.ask(
        "context.check",
        json!({ "session": "s", "messages": conversation(), "system_prompt": "be brief", "tools": [] }),
    );
    talk.ask("context.check", json!({ "session": "s", "messages": [] }));
    talk.ask("context.check", json!({ "session": "s", "messages": [7] }));
}

pub(super) fn reset(talk: &mut Talk) {
    talk.ask("context.reset", json!({ "session": "s" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    talk.ask("context.compress", json!({ "session": "s", "messages": conversation() }));
    talk.ask("context.reset", json!({ "session": "s" }));
}

pub(super) fn resume(talk: &mut Talk) {
    talk.ask("context.resume", json!({ "ticket": "none", "summary": "## Goal" }));
    talk.ask(
        "context.resume",
        json!({ "ticket": "none", "error": { "text": "late", "status": 504, "kind": "timeout" } }),
    );
    talk.ask("context.resume", json!({ "ticket": "none" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000, "summarizer": "client" }));
    for reply in [json!({ "summary": "## Goal\nWritten by the agent." }), json!({ "error": { "text": "late" } })] {
        let params = json!({ "session": "s", "messages": conversation(), "force": true });
        let asked = talk.ask("context.compress", params);
        let mut params = reply;
        params["ticket"] = asked["needs_summary"]["ticket"].clone();
        talk.ask("context.resume", params);
    }
}

pub(super) fn compact_ahead(talk: &mut Talk) {
    talk.ask("context.compact_ahead", json!({ "session": "s" }));
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    talk.ask("context.compact_ahead", json!({ "session": "s", "focus": false }));
    talk.ask("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": conversation() }));
    talk.ask("context.compact_ahead", json!({ "session": "s", "focus": false }));
}

pub(super) fn classify_error(talk: &mut Talk) {
    let text = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
    talk.ask("context.classify_error", json!({ "text": text, "status": 400, "current": 128_000 }));
    talk.ask("context.classify_error", json!({ "text": "rate limited", "status": 429 }));
    talk.ask("context.classify_error", json!({ "text": "" }));
}

pub(super) fn cache_control(talk: &mut Talk) {
    talk.ask("context.cache_control", json!({ "messages": conversation() }));
    talk.ask("context.cache_control", json!({ "messages": conversation(), "ttl": "1h", "native": true }));
    talk.ask("context.cache_control", json!({ "messages": [] }));
}

pub(super) fn manual(talk: &mut Talk) {
    talk.ask("context.manual", json!({ "text": "here 3" }));
    talk.ask("context.manual", json!({ "text": "the socket" }));
    talk.ask("context.manual", json!({ "history": conversation(), "keep": 2 }));
    let user = json!([{ "role": "user", "content": "a" }]);
    talk.ask("context.manual", json!({ "head": user, "tail": user }));
    talk.ask("context.manual", json!({ "before": user, "after": [], "tokens_before": 9000, "tokens_after": 1200 }));
    talk.ask("context.manual", json!({}));
    talk.ask("context.manual", json!({ "text": "here", "keep": 2 }));
}

pub(super) fn constraint_add(talk: &mut Talk) {
    talk.ask("constraint.add", json!({ "session": "s", "text": "never push to main" }));
    talk.ask("constraint.add", json!({ "session": "s", "text": "don't touch the tests yet", "scope": "once" }));
    talk.ask("constraint.add", json!({ "session": "s", "text": " " }));
}

pub(super) fn constraint_list(talk: &mut Talk) {
    talk.ask("constraint.list", json!({ "session": "nobody" }));
    talk.ask("constraint.add", json!({ "session": "s", "text": "never push to main" }));
    talk.ask("constraint.list", json!({ "session": "s" }));
}

pub(super) fn constraint_remove(talk: &mut Talk) {
    let added = talk.ask("constraint.add", json!({ "session": "s", "text": "never push to main" }));
    talk.ask("constraint.remove", json!({ "session": "s", "id": added["id"] }));
    talk.ask("constraint.list", json!({ "session": "s" }));
    talk.ask("constraint.remove", json!({ "session": "s", "id": "c_none" }));
}
