use serde_json::json;

use super::*;
use crate::file::testing::read;

fn record(kind: &str, from: &str, parts: &Value) -> Value {
    json!({
        "uuid": format!("{kind}-{from}-{parts}"), "sessionId": "s", "timestamp": "2026-02-03T04:05:06.500Z",
        "type": kind, "provenance": from, "cwd": "/w", "gitBranch": "main", "message": { "parts": parts },
    })
}

fn system(subtype: &str, payload: &Value) -> Value {
    json!({
        "uuid": subtype, "sessionId": "s", "type": "system", "provenance": "system", "subtype": subtype,
        "systemPayload": payload,
    })
}

#[test]
fn words_calls_and_results_are_messages() {
    let context = "<qwen:user-prompt-submit-context>\nold text\n</qwen:user-prompt-submit-context>";
    let call = json!({ "functionCall": { "id": "c", "name": "run_shell_command", "args": { "command": "ls" } } });
    let response = json!({ "id": "c", "name": "run_shell_command", "response": { "output": "a\nb" } });
    let mut answer = record("assistant", "assistant_output", &json!([{ "text": "no", "thought": true }, call]));
    answer["model"] = json!("qwen3");
    answer["usageMetadata"] = json!({ "promptTokenCount": 1000, "candidatesTokenCount": 20 });
    let (mut session, messages, tally) = read::<QwenCode>(&[
        record("user", "real_user", &json!([{ "text": "fix it" }, { "text": context }])),
        system("attribution_snapshot", &json!({})),
        answer.clone(),
        // A file may have a record twice.
        answer,
        record("tool_result", "tool_result", &json!([{ "functionResponse": response }])),
        record("user", "real_user", &json!([{ "text": context }])),
        record("user", "goal_runtime", &json!([{ "text": "go on with the goal" }])),
        record("assistant", "assistant_output", &json!([{ "text": "Done." }])),
        system("chat_compression", &json!({ "compressedHistory": [{ "role": "user", "parts": [{ "text": "sum" }] }] })),
        system("custom_title", &json!({ "customTitle": "Fix it" })),
        system("parent_session", &json!({ "parentSessionId": "r" })),
    ]);
    assert_eq!(
        messages,
        [
            json!({ "role": "user", "content": "fix it" }),
            json!({ "role": "assistant", "content": null, "tool_calls": [
                parts::call("c", "run_shell_command", &json!({ "command": "ls" }))
            ] }),
            json!({ "role": "tool", "tool_call_id": "c", "name": "run_shell_command", "content": "a\nb" }),
            json!({ "role": "assistant", "content": "Done." }),
        ]
    );
    let Session { title, parent, cwd, branch, model, .. } = &session;
    let facts = [title, parent, cwd, branch, model].map(|fact| fact.as_deref().unwrap_or_default());
    assert_eq!(facts, ["Fix it", "r", "/w", "main", "qwen3"]);
    let [call] = session.take_calls().try_into().unwrap();
    assert_eq!((call.model.as_deref(), call.usage.contains("1000")), (Some("qwen3"), true));
    let counted = [
        ("context of the client", 2),
        ("duplicate record", 1),
        ("summary", 1),
        ("system", 3),
        ("thought", 1),
        ("user", 1),
    ];
    assert_eq!(tally, counted.map(|(kind, count)| (kind.to_owned(), count)));
}

#[test]
fn a_record_without_a_provenance_counts_and_odd_ones_fail_nothing() {
    let (_, messages, tally) = read::<QwenCode>(&[
        json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "parts": [{ "text": "look" }] } }),
        json!({ "type": "assistant", "sessionId": "s", "message": { "parts": "It is there." } }),
        json!({ "type": "assistant", "sessionId": "s" }),
        json!({ "type": "news", "sessionId": "s" }),
        json!({ "sessionId": "s" }),
        json!([1]),
    ]);
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    assert_eq!(messages, [message("user", "look"), message("assistant", "It is there.")]);
    assert_eq!(tally, [("news".to_owned(), 1), ("record without a type".to_owned(), 2)]);
}
