use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Returns the messages of each session, with the session's name.
fn read(name: &str, records: &[Value]) -> (Vec<(String, Vec<Value>)>, Reader) {
    let mut reader = Reader::new(name);
    records.iter().for_each(|record| reader.line(&record.to_string()));
    let shown = |session: &mut Session| {
        let messages = session.take().1.into_iter();
        (session.id.clone(), messages.map(|said| serde_json::from_str(&said.message).unwrap()).collect())
    };
    (reader.sessions().iter_mut().map(shown).collect(), reader)
}

fn record(kind: &str, content: &Value) -> Value {
    json!({ "type": kind, "cwd": "/w", "timestamp": "2026-02-03T04:05:06.500Z", "sessionId": "s",
            "message": { "role": kind, "model": "m-1", "content": content } })
}

#[test]
fn words_calls_and_results_are_messages() {
    let records = [
        record("user", &json!("fix it")),
        record("assistant", &json!([{ "type": "thinking", "thinking": "hm" }])),
        record("assistant", &json!([{ "type": "text", "text": "I look." }])),
        record("assistant", &json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }])),
        record(
            "user",
            &json!([{ "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "a b" }] }]),
        ),
        json!({ "type": "summary", "summary": "Mending" }),
        json!({ "type": "attachment", "attachment": { "type": "queued_command", "prompt": "and then?" } }),
        json!({ "type": "attachment", "attachment": {} }),
    ];
    let (sessions, mut reader) = read("s", &records);
    let call =
        json!({ "id": "t1", "type": "function", "function": { "name": "Bash", "arguments": "{\"command\":\"ls\"}" } });
    let expect = vec![
        json!({ "role": "user", "content": "fix it" }),
        json!({ "role": "assistant", "content": "I look." }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": "t1", "name": "Bash", "content": "a b" }),
        json!({ "role": "user", "content": "and then?" }),
    ];
    assert_eq!(sessions, [("s".to_owned(), expect)]);
    let session = &reader.sessions()[0];
    let shown = [&session.title, &session.model, &session.cwd].map(Option::as_deref);
    assert_eq!(shown, [Some("Mending"), Some("m-1"), Some("/w")]);
    let tally = reader.ignored();
    assert_eq!(tally.iter().collect::<Vec<_>>(), [("attachment", 1), ("summary", 1), ("thinking", 1)]);
}

#[test]
fn what_nobody_said_is_ignored() {
    let flagged = |flag: &str| {
        let mut record = record("user", &json!("x"));
        record[flag] = true.into();
        record
    };
    for (record, kind) in [
        (flagged("isMeta"), "meta"),
        (flagged("isCompactSummary"), "summary"),
        (flagged("isApiErrorMessage"), "API error"),
        (record("user", &json!("<command-name>/clear</command-name>")), "command"),
        (json!({ "type": "assistant", "message": { "model": "<synthetic>", "content": "No" } }), "API error"),
        (json!({ "kind": 7 }), "record without a type"),
        (json!("text"), "record without a type"),
    ] {
        let (sessions, mut reader) = read("s", std::slice::from_ref(&record));
        assert!(sessions.iter().all(|(_, messages)| messages.is_empty()), "{record}");
        assert_eq!(reader.ignored().iter().collect::<Vec<_>>(), [(kind, 1)], "{record}");
    }
}

fn command(arguments: &str) -> Value {
    let text = format!(
        "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>{arguments}</command-args>"
    );
    let mut record = record("user", &json!(text));
    record["uuid"] = "u1".into();
    record
}

fn prompt(parent: &str, text: &str) -> Value {
    let mut record = record("user", &json!([{ "type": "text", "text": text }]));
    record["isMeta"] = true.into();
    record["parentUuid"] = parent.into();
    record
}

fn texts(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

#[test]
fn a_slash_command_and_its_prompt_are_messages_of_the_user() {
    let manual = "manual ".repeat(1_000);
    for (records, said) in [
        (vec![command("the login"), prompt("u1", "Fix the login.")], vec!["/fix the login", "Fix the login."]),
        (vec![command(""), prompt("u1", "Fix it, never push.")], vec!["/fix\nFix it, never push."]),
        (vec![command("the login"), prompt("u1", &manual)], vec!["/fix the login"]),
        (vec![command("")], vec![]),
        (vec![command("a"), prompt("u0", "not its prompt")], vec!["/fix a"]),
        (vec![command("a"), prompt("u1", "one"), prompt("u1", "another")], vec!["/fix a", "one"]),
    ] {
        let (sessions, _) = read("s", &records);
        let messages = sessions.first().map(|(_, messages)| messages.clone()).unwrap_or_default();
        assert_eq!(texts(&messages), said, "{records:?}");
    }
}

#[test]
fn a_prompt_that_another_reader_finds_belongs_to_its_command() {
    for (arguments, said) in [("", "/fix\nFix it."), ("the login", "Fix it.")] {
        let (_, first) = read("s", &[command(arguments)]);
        let mut second = Reader::new("s");
        second.resume("s", Box::new(first).progress());
        second.line(&prompt("u1", "Fix it.").to_string());
        let messages: Vec<Value> =
            second.sessions()[0].take().1.iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
        assert_eq!(texts(&messages), [said], "{arguments}");
    }
}

#[test]
fn a_queued_text_is_parsed_like_any_other() {
    let queued =
        |text: &str| json!({ "type": "attachment", "attachment": { "type": "queued_command", "prompt": text } });
    let generated = "<system-reminder>a</system-reminder>";
    let (sessions, _) = read("s", &[queued(&format!("{generated}\nand then?")), queued(generated), queued("why <b>?")]);
    assert_eq!(texts(&sessions[0].1), ["and then?", "why <b>?"]);
}

#[test]
fn rows_of_a_plugin_after_a_compaction_are_no_messages() {
    let of_plugin = |content: Value| {
        let mut record = record("user", &content);
        record["rowSource"] = "hook".into();
        record
    };
    let short = || of_plugin(json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "[Bash] ran ls" }]));
    let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b" });
    let (sessions, _) =
        read("s", &[boundary, of_plugin(json!("the handoff")), short(), record("user", &json!("go on"))]);
    assert_eq!(sessions[0].1, [json!({ "role": "user", "content": "go on" })]);
}

#[test]
fn what_a_subagent_did_is_a_session_of_its_own() {
    let aside = |agent: Option<&str>, words: &str| {
        let mut record = record("user", &json!(words));
        record["isSidechain"] = true.into();
        record["agentId"] = agent.into();
        record
    };
    let records = [
        record("user", &json!("fix it")),
        aside(Some("a1"), "look aside"),
        aside(None, "look aside"),
        aside(Some("a1"), "and there"),
    ];
    let (sessions, mut reader) = read("s", &records);
    let counts: Vec<_> = sessions.iter().map(|(id, messages)| (id.as_str(), messages.len())).collect();
    assert_eq!(counts, [("s", 1), ("s/a1", 2), ("s/sidechain", 1)]);
    assert_eq!(reader.sessions()[1].parent.as_deref(), Some("s"));
}

#[test]
fn messages_are_taken_once_and_know_their_places() {
    let mut reader = Reader::new("s");
    reader.line(&record("user", &json!("a")).to_string());
    let places = |reader: &mut Reader| reader.sessions()[0].take();
    assert_eq!(places(&mut reader).0, 0);
    reader.line(&record("user", &json!("b")).to_string());
    reader.line("{\"type\":\"user\", cut");
    let (first, said) = places(&mut reader);
    assert_eq!((first, said.len(), said[0].time), (1, 1, Some(1_770_091_506.5)));
    assert_eq!(places(&mut reader), (2, vec![]));
}

proptest! {
    /// The reader reads or counts records of any shape.
    #[test]
    fn no_record_is_too_odd(kind in "user|assistant|summary|x", content in any_json(), flag in any_json()) {
        let record = json!({ "type": kind, "isSidechain": flag, "timestamp": content, "cwd": flag,
            "message": { "content": [content, { "type": "tool_use", "id": flag, "name": content, "input": flag }] } });
        let (sessions, _) = read("s", &[record, content, flag]);
        for (_, messages) in sessions {
            prop_assert!(messages.iter().all(|message| message["role"].is_string()));
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), "[a-z\u{0}é]{0,4}".prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            ("type|text|content|tool_use_id|x", inner).prop_map(|(key, value)| json!({ key: value })),
        ]
    })
}

#[test]
fn what_a_plugin_keeps_of_a_conversation_is_not_said_twice() {
    let user = |uuid: &str, parent: &str, time: u32, text: &str| {
        json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": format!("2026-11-27T05:35:{time}Z"),
                "message": { "role": "user", "content": text } })
    };
    let mut summary = user("c", "b", 30, "the handoff");
    summary["rowSource"] = "hook".into();
    let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null });
    let lines = [
        user("1", "", 10, "first"),
        user("2", "1", 20, "yes"),
        boundary,
        summary,
        user("d", "c", 20, "yes"),
        user("e", "d", 40, "yes"),
    ];
    let mut reader = Reader::new("s");
    lines.iter().for_each(|line| reader.line(&line.to_string()));
    let said = reader.sessions()[0].take().1;
    assert_eq!(said.iter().map(|said| said.time.unwrap() % 60.0).collect::<Vec<_>>(), [10.0, 20.0, 40.0]);
    let left_out = reader.ignored();
    assert_eq!(left_out.iter().collect::<Vec<_>>(), [("repeated by a compaction", 1), ("summary", 1), ("system", 1)]);
}

#[test]
fn each_answer_has_the_usage_of_its_call() {
    let usage = json!({ "input_tokens": 3, "output_tokens": 1 });
    let with = |change: &dyn Fn(&mut Value)| {
        let mut answer = record("assistant", &json!([{ "type": "text", "text": "I look." }]));
        (answer["message"]["id"], answer["message"]["usage"]) = (json!("msg_1"), usage.clone());
        change(&mut answer);
        answer
    };
    let of_agent = |answer: &mut Value| {
        (answer["isSidechain"], answer["agentId"]) = (json!(true), json!("a1"));
    };
    let (_, mut reader) = read(
        "s",
        &[
            with(&|_| {}),
            with(&of_agent),
            with(&|answer| answer["forkedFrom"] = json!({ "sessionId": "old" })),
            with(&|answer| answer["message"]["model"] = json!("<synthetic>")),
            with(&|answer| answer["message"]["usage"] = json!(null)),
            with(&|answer| answer["message"]["id"] = json!(7)),
            with(&|answer| answer["timestamp"] = json!("yesterday")),
        ],
    );
    for id in ["s", "s/a1"] {
        let session = reader.sessions().iter_mut().find(|session| session.id == id).unwrap();
        let calls = session.take_calls();
        let [call] = calls.as_slice() else { panic!("{id}: {calls:?}") };
        assert_eq!((call.id.as_str(), call.model.as_deref()), ("msg_1", Some("m-1")));
        assert_eq!((call.usage.as_str(), call.time), (usage.to_string().as_str(), 1_770_091_506.5));
    }
}
