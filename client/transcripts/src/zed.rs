//! Threads of Zed's agent: a row of a database for each, with JSON in it. Before version 0.3.0 a message has a role and
//! segments; since then it is the one field of an object, named by who said it.

use serde_json::Value;

use crate::parts::{self, string};
use crate::{Session, Tally, TimedMessage, time};

/// Reads a thread into a session.
pub fn read(thread: &Value, session: &mut Session, tally: &mut Tally) {
    let title = ["title", "summary"].iter().find_map(|name| string(thread, name));
    session.title = title.map(str::to_owned).or(session.title.take());
    session.model = thread.pointer("/model/model").and_then(Value::as_str).map(str::to_owned);
    // A thread has one time: that of its last change.
    let time = thread.get("updated_at").and_then(time::read);
    for message in thread.get("messages").map(parts::each).unwrap_or_default() {
        let said = match message.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next())
        {
            Some((who, message)) => tagged(who, message, tally),
            // One without content, such as "Resume".
            None if message.is_string() => Vec::new(),
            None => with_role(message, tally),
        };
        said.into_iter().for_each(|message| session.push(TimedMessage { time, message }));
    }
}

/// Returns the messages of a message since version 0.3.0.
fn tagged(who: &str, message: &Value, tally: &mut Tally) -> Vec<String> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in message.get("content").map(parts::each).unwrap_or_default() {
        let Some((kind, part)) = part.as_object().and_then(|fields| fields.iter().next()) else { continue };
        match kind.as_str() {
            "Text" => parts::push(&mut text, part.as_str().unwrap_or_default()),
            "Mention" => parts::push(&mut text, string(part, "content").unwrap_or_default()),
            "ToolUse" => calls.push(call(part)),
            "Thinking" | "RedactedThinking" => tally.add("thinking"),
            "Image" => parts::push(&mut text, "[image]"),
            kind => tally.add(kind),
        }
    }
    let results = message.get("tool_results").and_then(Value::as_object).into_iter().flatten();
    let results = results.map(|(id, result)| self::result(id, result, tally)).collect::<Vec<_>>();
    match who {
        "User" if !text.is_empty() => vec![parts::message("user", &text)],
        "User" => Vec::new(),
        "Agent" => parts::assistant(&text, calls).into_iter().chain(results).collect(),
        other => {
            tally.add(&format!("{other} message"));
            Vec::new()
        }
    }
}

/// Returns the messages of a message before version 0.3.0.
fn with_role(message: &Value, tally: &mut Tally) -> Vec<String> {
    let mut text = String::new();
    for segment in message.get("segments").map(parts::each).unwrap_or_default() {
        match string(segment, "type") {
            Some("text") => parts::push(&mut text, string(segment, "text").unwrap_or_default()),
            Some(kind) => tally.add(kind),
            None => tally.add("content without text"),
        }
    }
    let list = |name: &str| message.get(name).map(parts::each).unwrap_or_default();
    let calls = list("tool_uses").iter().map(call).collect();
    let results =
        list("tool_results").iter().map(|one| result(string(one, "tool_use_id").unwrap_or_default(), one, tally));
    let results: Vec<String> = results.collect();
    match string(message, "role") {
        Some("user") if !text.is_empty() => results.into_iter().chain([parts::message("user", &text)]).collect(),
        Some("user") => results,
        Some("assistant") => parts::assistant(&text, calls).into_iter().chain(results).collect(),
        role => {
            tally.add(&format!("{} message", role.unwrap_or("nobody's")));
            Vec::new()
        }
    }
}

fn call(part: &Value) -> Value {
    let field = |name: &str| string(part, name).unwrap_or_default();
    parts::call(field("id"), field("name"), part.get("input").unwrap_or(&Value::Null))
}

fn result(id: &str, result: &Value, tally: &mut Tally) -> String {
    let content = result.get("content").unwrap_or(&Value::Null);
    let content = content.get("Text").unwrap_or(content);
    parts::result(id, string(result, "tool_name"), &parts::text(content, tally))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(thread: &Value) -> (Session, Vec<Value>, Tally) {
        let (mut session, mut tally) = (Session::new("z"), Tally::default());
        read(thread, &mut session, &mut tally);
        let messages = session.take().1.into_iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
        (session, messages, tally)
    }

    #[test]
    fn both_forms_of_a_thread_are_read() {
        let used = json!({ "id": "t", "name": "terminal", "raw_input": "{}", "input": { "command": "ls" } });
        let now = json!({
            "version": "0.3.0", "title": "look", "updated_at": "2026-07-19T09:00:02Z", "model": { "provider": "p", "model": "m" },
            "messages": [
                { "User": { "id": "u", "content": [{ "Text": "look" }, { "Mention": { "uri": "file:///a", "content": "a.rs" } }] } },
                { "Agent": {
                    "content": [{ "Thinking": { "text": "hm" } }, { "Text": "I look." }, { "ToolUse": used }],
                    "tool_results": { "t": { "tool_use_id": "t", "tool_name": "terminal", "content": { "Text": "a b" } } },
                } },
                "Resume",
            ],
        });
        let before = json!({
            "version": "0.2.0", "summary": "look", "updated_at": "2026-07-19T09:00:02Z", "model": { "provider": "p", "model": "m" },
            "messages": [
                { "id": 1, "role": "user", "segments": [{ "type": "text", "text": "look" }, { "type": "text", "text": "a.rs" }] },
                { "id": 2, "role": "assistant",
                  "segments": [{ "type": "thinking", "text": "hm" }, { "type": "text", "text": "I look." }],
                  "tool_uses": [used],
                  "tool_results": [{ "tool_use_id": "t", "tool_name": "terminal", "content": { "Text": "a b" } }] },
            ],
        });
        for thread in [now, before] {
            let (session, messages, tally) = read_all(&thread);
            assert_eq!(
                messages,
                [
                    json!({ "role": "user", "content": "look\na.rs" }),
                    json!({ "role": "assistant", "content": "I look.",
                            "tool_calls": [parts::call("t", "terminal", &json!({ "command": "ls" }))] }),
                    json!({ "role": "tool", "tool_call_id": "t", "content": "a b", "name": "terminal" }),
                ]
            );
            assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("look"), Some("m")));
            assert_eq!(
                tally.iter().map(|(kind, count)| (kind.to_owned(), count)).collect::<Vec<_>>(),
                [("thinking".into(), 1)]
            );
        }
        for odd in [json!(null), json!({ "messages": 7 }), json!({ "messages": [[], {}, { "Robot": {} }] })] {
            assert_eq!(read_all(&odd).1, Vec::<Value>::new(), "{odd}");
        }
    }
}
