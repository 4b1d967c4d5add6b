use serde_json::json;

use super::*;

const NAME: &str = "rollout-2026-02-03T04-05-06-0198f9d2-0000-7000-8000-000000000001";

fn read(records: &[Value]) -> (Session, Vec<Value>, Tally) {
    let mut reader = Reader::new(NAME);
    records.iter().for_each(|record| reader.line(&record.to_string()));
    let tally = reader.ignored();
    let mut session = reader.sessions().remove(0);
    let messages = session.take().1.into_iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
    (session, messages, tally)
}

fn item(payload: &Value) -> Value {
    json!({ "timestamp": "2026-02-03T04:05:06.500Z", "type": "response_item", "payload": payload })
}

/// As other programs write rollouts: no type of a message, and the session's id under another name.
#[test]
fn messages_need_no_type() {
    let said =
        |role: &str, text: &str| item(&json!({ "role": role, "content": [{ "type": "input_text", "text": text }] }));
    let (session, messages, tally) = read(&[
        json!({ "type": "session_meta", "payload": { "session_id": "c1", "cwd": "/w" } }),
        said("user", "inspect it"),
        said("assistant", "It is readable."),
        item(&json!({ "content": "nobody's" })),
    ]);
    assert_eq!((session.id.as_str(), session.cwd.as_deref()), ("c1", Some("/w")));
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    assert_eq!(messages, [message("user", "inspect it"), message("assistant", "It is readable.")]);
    assert_eq!(tally.iter().collect::<Vec<_>>(), [("record without a type", 1)]);
}

#[test]
fn words_calls_and_outputs_are_messages() {
    let said = |role: &str, kind: &str, text: &str| {
        item(&json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }))
    };
    let old = json!({ "output": "no such file\n", "metadata": { "exit_code": 2 } }).to_string();
    let (session, messages, tally) = read(&[
        json!({ "type": "session_meta", "payload": { "id": "c1", "cwd": "/w", "forked_from_id": "c0" } }),
        json!({ "type": "session_meta", "payload": { "id": "c0", "cwd": "/elsewhere" } }),
        json!({ "type": "turn_context", "payload": { "model": "m-1", "cwd": "/w" } }),
        said("developer", "input_text", "be kind"),
        said("user", "input_text", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
        said("user", "input_text", "fix it"),
        said("assistant", "output_text", "I look."),
        item(&json!({ "type": "reasoning", "summary": [] })),
        item(
            &json!({ "type": "function_call", "namespace": "mcp__herma", "name": "recall", "arguments": "{\"q\":1}", "call_id": "1" }),
        ),
        item(&json!({ "type": "function_call_output", "call_id": "1", "output": old })),
        item(&json!({ "type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "2" })),
        item(
            &json!({ "type": "custom_tool_call_output", "call_id": "2", "output": [{ "type": "input_text", "text": "done" }] }),
        ),
        item(&json!({ "type": "local_shell_call", "action": { "command": ["ls"] }, "call_id": "3" })),
        json!({ "type": "event_msg", "payload": { "type": "token_count" } }),
    ]);
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("c1", Some("c0")));
    assert_eq!((session.cwd.as_deref(), session.model.as_deref()), (Some("/w"), Some("m-1")));
    let call = |id: &str, name: &str, arguments: &str| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
    };
    let expect = [
        json!({ "role": "user", "content": "fix it" }),
        json!({ "role": "assistant", "content": "I look." }),
        call("1", "mcp__herma__recall", "{\"q\":1}"),
        json!({ "role": "tool", "tool_call_id": "1", "name": "mcp__herma__recall", "content": "no such file\n\n[exit code 2]" }),
        call("2", "apply_patch", "*** Begin"),
        json!({ "role": "tool", "tool_call_id": "2", "name": "apply_patch", "content": "done" }),
        call("3", "local_shell", "{\"command\":[\"ls\"]}"),
    ];
    assert_eq!(messages, expect);
    let counted = [("context of the client", 1), ("developer message", 1), ("event_msg", 1), ("reasoning", 1)];
    assert_eq!(tally.iter().collect::<Vec<_>>(), counted);
}

#[test]
fn older_files_without_an_envelope_are_read() {
    let (session, messages, _) = read(&[
        json!({ "id": "c1", "timestamp": "2025-05-01T00:00:00Z", "instructions": null }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "fix it" }] }),
        json!({ "record_type": "state" }),
    ]);
    assert_eq!((session.id.as_str(), messages.len()), ("c1", 1));
}

#[test]
fn a_file_without_a_beginning_is_known_by_its_name() {
    let (session, _, tally) = read(&[json!(7), json!({ "type": 7, "payload": 7 })]);
    assert_eq!(session.id, "0198f9d2-0000-7000-8000-000000000001");
    assert_eq!(tally.iter().collect::<Vec<_>>(), [("record without a type", 2)]);
    assert_eq!(Reader::new("é").sessions()[0].id, "é");
}

#[test]
fn only_whole_elements_of_the_program_are_removed() {
    let context = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>";
    let project = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>";
    for (parts, words) in [
        (vec![context, project], None),
        (vec![project, context, "fix it"], Some("fix it")),
        (vec!["<environment_context>a</environment_context>\nfix it"], Some("fix it")),
        (
            vec!["<user_instructions>a</user_instructions>\n\n# AGENTS.md instructions\nare too long"],
            Some("# AGENTS.md instructions\nare too long"),
        ),
        (vec!["# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\na\n</INSTRUCTIONS>\nfix it"], Some("fix it")),
        (
            vec!["# AGENTS.md instructions are too long, never write there"],
            Some("# AGENTS.md instructions are too long, never write there"),
        ),
        (vec!["<environment_context> is in my log"], Some("<environment_context> is in my log")),
        (vec!["<turn_aborted>by the user</turn_aborted>"], None),
    ] {
        let content: Vec<Value> = parts.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
        let (_, messages, _) = read(&[item(&json!({ "type": "message", "role": "user", "content": content }))]);
        assert_eq!(messages.first().map(|message| message["content"].as_str().unwrap()), words, "{parts:?}");
    }
}

#[test]
fn each_call_of_the_model_is_read_once_with_its_usage() {
    let usage = |input: u64| json!({ "input_tokens": input, "cached_input_tokens": 5, "output_tokens": 1 });
    let event = |sum: u64, input: u64| {
        let info = json!({ "total_token_usage": { "total_tokens": sum }, "last_token_usage": usage(input) });
        json!({ "timestamp": "2026-02-03T04:05:06Z", "type": "event_msg", "payload": { "type": "token_count", "info": info } })
    };
    let record = |thread: &str, sum: u64, input: u64| {
        let payload =
            json!({ "thread_id": thread, "thread_token_usage": { "total_tokens": sum }, "usage": usage(input) });
        json!({ "timestamp": "2026-02-03T04:05:06Z", "type": "token_usage_record", "payload": payload })
    };
    let meta = json!({ "type": "session_meta", "payload": { "id": "c1" } });
    let model = json!({ "type": "turn_context", "payload": { "model": "m-1" } });
    let nothing = json!({ "type": "event_msg", "payload": { "type": "token_count", "info": null } });
    let mut limited = event(10, 9);
    limited["payload"]["rate_limits"] = json!(1);
    for (records, expected) in [
        // The second event has another rate limit.
        (vec![event(10, 9), limited, event(30, 19), nothing], vec![(10, 9), (10, 9), (30, 19)]),
        (vec![record("c1", 10, 9), event(10, 9), record("c1", 30, 19)], vec![(10, 9), (30, 19)]),
        // A forked thread.
        (vec![record("c0", 10, 9), event(10, 9), record("c1", 30, 19)], vec![(30, 19)]),
    ] {
        let (mut session, ..) = read(&[&[meta.clone(), model.clone()], &records[..]].concat());
        let calls = session.take_calls();
        assert!(calls.iter().all(|call| call.model.as_deref() == Some("m-1") && call.time > 1_770_000_000.0));
        let found = calls.into_iter().map(|call| (call.id, call.usage)).collect::<Vec<_>>();
        let expected = expected.into_iter().map(|(sum, input)| (format!("tokens-{sum}"), usage(input).to_string()));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
}
