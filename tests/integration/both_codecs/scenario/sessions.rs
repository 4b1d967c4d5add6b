//! Requests about sessions: chains, transcripts, locks and usage.

use serde_json::{Value, json};

use super::Talk;

/// Reports one call of a model in Anthropic's form.
fn spend(talk: &mut Talk, session: &str, model: &str, input: u64) {
    let usage = json!({
        "input_tokens": input,
        "output_tokens": 500,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 400,
    });
    let params = json!({ "session": session, "usage": usage, "provider": "anthropic", "model": model });
    talk.ask("context.record_usage", params);
}

fn said(turns: &[(&str, &str)]) -> Value {
    turns.iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// A root session with messages, and a child that was opened while the root was open.
fn family(talk: &mut Talk) {
    let root = json!({ "session": "root", "agent": "a", "title": "Herma", "model": "m", "context_length": 9000 });
    talk.ask("session.open", root);
    let messages = said(&[("user", "please mend the sockét"), ("assistant", "it is mended")]);
    talk.ask("session.append", json!({ "session": "root", "generation": 0, "position": 0, "messages": messages }));
    talk.ask("session.open", json!({ "session": "child", "parent": "root", "title": "Herma #2" }));
}

pub(super) fn append(talk: &mut Talk) {
    talk.ask("session.open", json!({ "session": "s" }));
    let messages = said(&[("user", "eins"), ("assistant", "zwei ☕")]);
    let at = |generation: u64, position: u64, messages: &Value| json!({ "session": "s", "generation": generation, "position": position, "messages": messages });
    talk.ask("session.append", at(0, 0, &messages));
    talk.ask("session.append", at(0, 1, &said(&[("assistant", "zwei ☕"), ("user", "drei")])));
    talk.ask("session.append", at(0, 3, &json!([])));
    talk.ask("session.append", at(0, 9, &messages));
    talk.ask("session.append", at(7, 3, &messages));
    let new = json!({ "session": "on the spot", "generation": 0, "position": 0, "messages": messages });
    talk.ask("session.append", new);
    talk.ask("session.append", json!({ "session": "", "generation": 0, "position": 0, "messages": messages }));
    talk.ask("session.append", at(0, 3, &json!([7, "no message"])));
}

pub(super) fn import(talk: &mut Talk) {
    let messages = said(&[("user", "eins"), ("assistant", "the key is sk-ant-api03-0123456789abcdef0123456789 ☕")]);
    let at = |position: u64, times: Value| json!({ "session": "x:1", "agent": "x", "source": "/f", "cwd": "/w", "title": "t", "model": "m", "position": position, "messages": messages, "times": times, "redact": true });
    talk.ask("session.import", at(1, json!(null)));
    talk.ask("session.import", at(0, json!([1.5, null])));
    talk.ask("session.import", at(1, json!([1.5, null])));
    talk.ask("session.import", at(4, json!([1.5, 2.5])));
    talk.ask("session.import", at(0, json!([1.5])));
    talk.ask("session.import", at(2, json!([-1.5, 2])));
    talk.ask("session.import", json!({ "session": "", "position": 0, "messages": [] }));
    talk.ask("session.import", json!({ "session": "x:1", "position": 0, "messages": [], "source": "a\nb" }));
    talk.ask("session.show", json!({ "session": "x:1" }));
    talk.ask("session.open", json!({ "session": "x:1" }));
    talk.ask("session.import", at(3, json!([1.5, 2.5])));
    talk.ask("session.open", json!({ "session": "live" }));
    talk.ask("session.import", json!({ "session": "live", "position": 0, "messages": [] }));
}

pub(super) fn list(talk: &mut Talk) {
    talk.ask("session.list", json!({}));
    family(talk);
    spend(talk, "root", "m", 1000);
    talk.ask("session.list", json!({}));
    talk.ask("session.list", json!({ "raw": true, "limit": 1 }));
    talk.ask("session.list", json!({ "before": 1.5 }));
    talk.ask("session.list", json!({ "limit": 0 }));
    talk.ask("session.list", json!({ "limit": 1001 }));
}

pub(super) fn show(talk: &mut Talk) {
    family(talk);
    spend(talk, "root", "m", 1000);
    talk.ask("session.show", json!({ "session": "root" }));
    talk.ask("session.close", json!({ "session": "child", "reason": "done" }));
    talk.ask("session.show", json!({ "session": "child" }));
    talk.ask("session.show", json!({ "session": "nobody" }));
}

pub(super) fn messages(talk: &mut Talk) {
    family(talk);
    let said = json!([{ "role": "user", "content": "one" }, { "role": "assistant", "content": "two" }]);
    talk.ask("session.append", json!({ "session": "root", "generation": 0, "position": 0, "messages": said }));
    for params in [
        json!({ "session": "root" }),
        json!({ "session": "root", "first": -1, "whole": true }),
        json!({ "session": "root", "roles": ["user"], "limit": 1 }),
        json!({ "session": "root", "limit": 0 }),
        json!({ "session": "root", "limit": 1001 }),
        json!({ "session": "nobody" }),
    ] {
        talk.ask("session.messages", params);
    }
}

pub(super) fn tip(talk: &mut Talk) {
    family(talk);
    for session in ["root", "child", "nobody", ""] {
        talk.ask("session.tip", json!({ "session": session }));
    }
}

pub(super) fn resume_target(talk: &mut Talk) {
    family(talk);
    talk.ask("session.open", json!({ "session": "empty", "parent": "child" }));
    for session in ["root", "child", "empty", "nobody", ""] {
        talk.ask("session.resume_target", json!({ "session": session }));
    }
}

pub(super) fn next_title(talk: &mut Talk) {
    family(talk);
    for title in ["Herma", "Herma #2", "Herma #7", "never used", "#", "日本", ""] {
        talk.ask("session.next_title", json!({ "title": title }));
    }
}

pub(super) fn update(talk: &mut Talk) {
    talk.ask("session.update", json!({ "session": "s", "title": "nobody" }));
    talk.ask("session.open", json!({ "session": "s", "cwd": "/a", "branch": "main", "captured": true }));
    let named =
        json!({ "session": "s", "title": "my <private>b</private>", "model": "m", "context_length": 9, "cwd": "/b" });
    talk.ask("session.update", named);
    talk.ask("session.show", json!({ "session": "s" }));
    talk.ask("session.update", json!({ "session": "s", "context_length": 0 }));
}

pub(super) fn lock(talk: &mut Talk) {
    talk.ask("session.lock", json!({ "session": "s", "holder": "a" }));
    talk.ask("session.lock", json!({ "session": "s", "holder": "a", "ttl_s": 60.5 }));
    talk.ask("session.lock", json!({ "session": "s", "holder": "b" }));
    talk.ask("session.lock", json!({ "session": "with the connection", "holder": "b", "ttl_s": 0 }));
    talk.ask("session.lock", json!({ "session": "", "holder": "a" }));
    talk.ask("session.lock", json!({ "session": "t", "holder": "a", "ttl_s": -1 }));
}

pub(super) fn unlock(talk: &mut Talk) {
    talk.ask("session.unlock", json!({ "session": "s", "holder": "a" }));
    talk.ask("session.lock", json!({ "session": "s", "holder": "a" }));
    talk.ask("session.unlock", json!({ "session": "s", "holder": "b" }));
    talk.ask("session.unlock", json!({ "session": "s", "holder": "a" }));
    talk.ask("session.lock", json!({ "session": "s", "holder": "b" }));
    talk.ask("session.unlock", json!({ "session": "", "holder": "a" }));
}

pub(super) fn lock_holder(talk: &mut Talk) {
    talk.ask("session.lock_holder", json!({ "session": "s" }));
    talk.ask("session.lock", json!({ "session": "s", "holder": "agent é" }));
    talk.ask("session.lock_holder", json!({ "session": "s" }));
    talk.ask("session.lock_holder", json!({ "session": "" }));
}

pub(super) fn remove(talk: &mut Talk) {
    family(talk);
    let kept = json!({ "session": "root", "tool": "t", "id": "c", "content": "a line\n".repeat(50), "threshold": 0 });
    talk.ask("output.admit", kept);
    talk.ask("session.remove", json!({ "session": "root" }));
    talk.ask("session.remove", json!({ "session": "root" }));
    talk.ask("session.remove", json!({ "session": "child" }));
    talk.ask("session.remove", json!({ "session": "nobody" }));
    talk.ask("session.list", json!({ "raw": true }));
    talk.ask("recall.search", json!({ "query": "mended" }));
}

pub(super) fn usage(talk: &mut Talk) {
    talk.ask("session.usage", json!({}));
    talk.ask("session.open", json!({ "session": "s", "agent": "coder", "model": "m-large" }));
    talk.ask("session.open", json!({ "session": "t", "agent": "reader" }));
    spend(talk, "s", "m-large", 1000);
    spend(talk, "s", "m-small", 70);
    spend(talk, "t", "m-small", 300_000);
    for by in ["session", "model", "agent", "day"] {
        talk.ask("session.usage", json!({ "by": by }));
    }
    talk.ask("session.usage", json!({ "session": "s", "by": "model", "since": 1.5 }));
    talk.ask("session.usage", json!({ "since": 32_503_680_000.0 }));
    talk.ask("session.usage", json!({ "session": "nobody" }));
    talk.ask("session.usage", json!({ "since": -1 }));
}

pub(super) fn record_usage(talk: &mut Talk) {
    spend(talk, "s", "m", 1000);
    talk.ask("context.configure", json!({ "session": "s", "context_length": 9000 }));
    spend(talk, "s", "m", 1000);
    spend(talk, "s", "m", 6000);
    let usages = [
        json!({ "prompt_tokens": 3000, "completion_tokens": 20, "prompt_tokens_details": { "cached_tokens": 1000 } }),
        json!({ "prompt_tokens": "many", "completion_tokens": -3 }),
        json!({ "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3 } }),
        json!({ "promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 2 }),
        json!({}),
        Value::Null,
    ];
    for usage in usages {
        talk.ask("context.record_usage", json!({ "session": "s", "usage": usage }));
    }
    let responses = json!({
        "input_tokens": 900,
        "output_tokens": 80,
        "input_tokens_details": { "cached_tokens": 1000 },
        "output_tokens_details": { "reasoning_tokens": 64 },
    });
    talk.ask("context.record_usage", json!({ "usage": responses, "api_mode": "codex_responses" }));
    talk.ask("context.record_usage", json!({ "session": "x".repeat(2000), "usage": {} }));
}
