//! Conversations of Cursor's editor: a JSON object for each, which lists its bubbles, and one for each bubble. Older
//! versions have the bubbles themselves in the list.

use serde_json::Value;

use crate::parts::{self, string};
use crate::{Session, Tally, TimedMessage, time};

/// The fields with the bubbles, or with their ids.
const LISTS: [&str; 2] = ["fullConversationHeadersOnly", "conversation"];

/// The types of a bubble.
const USER: u64 = 1;
const ASSISTANT: u64 = 2;

/// The state of a conversation whose last bubble still grows, and those of a call without a result yet.
const GROWS: &str = "generating";
const RUNS: [&str; 3] = ["loading", "pending", "running"];

/// The kind of a bubble that is still being written.
const UNFINISHED: &str = "unfinished message";

/// Reads a conversation into a session. `bubble` returns the object of a bubble, by its id. The first bubble that is still being
/// written ends it.
pub fn read<E>(
    conversation: &Value,
    mut bubble: impl FnMut(&str) -> Result<Option<Value>, E>,
    session: &mut Session,
    tally: &mut Tally,
) -> Result<(), E> {
    session.title = string(conversation, "name").filter(|name| !name.is_empty()).map(str::to_owned);
    session.model = conversation.pointer("/modelConfig/modelName").and_then(Value::as_str).map(str::to_owned);
    let list = LISTS.iter().map(|name| conversation.get(name).map(parts::each).unwrap_or_default());
    let list = list.max_by_key(|list| list.len()).unwrap_or_default();
    let grows = string(conversation, "status") == Some(GROWS);
    for (at, head) in list.iter().enumerate() {
        let found = string(head, "bubbleId").map(&mut bubble).transpose()?.flatten();
        // An old one is here, and a new one without an object was removed.
        let found = found.as_ref().or_else(|| head.get("text").is_some().then_some(head));
        let Some(found) = found else {
            tally.add("missing bubble");
            continue;
        };
        let is_last = at + 1 == list.len();
        let is_user = found.get("type").and_then(Value::as_u64) == Some(USER);
        if is_running(found) || grows && is_last && !is_user {
            tally.add(UNFINISHED);
            return Ok(());
        }
        let begun = found.pointer("/timingInfo/clientStartTime").and_then(time::read);
        let time = found.get("createdAt").and_then(time::read).or(begun);
        messages(found, tally).into_iter().for_each(|message| session.push(TimedMessage { time, message }));
    }
    Ok(())
}

/// Returns the messages of a bubble.
fn messages(bubble: &Value, tally: &mut Tally) -> Vec<String> {
    let text = string(bubble, "text").unwrap_or_default();
    match bubble.get("type").and_then(Value::as_u64) {
        Some(USER) if text.is_empty() => Vec::new(),
        Some(USER) => vec![parts::message("user", text)],
        Some(ASSISTANT) => {
            if bubble.get("thinking").is_some_and(|thinking| !thinking.is_null()) {
                tally.add("thinking");
            }
            let used = bubble.get("toolFormerData").filter(|used| string(used, "name").is_some());
            let calls = used.map(call).into_iter().collect();
            parts::assistant(text, calls).into_iter().chain(used.and_then(|used| result(used, tally))).collect()
        }
        _ => {
            tally.add("bubble of nobody");
            Vec::new()
        }
    }
}

fn is_running(bubble: &Value) -> bool {
    let state = bubble.get("toolFormerData").and_then(|used| string(used, "status"));
    state.is_some_and(|state| RUNS.contains(&state))
}

fn call(used: &Value) -> Value {
    let field = |name: &str| string(used, name).unwrap_or_default();
    // What the model wrote, or what the editor made of it.
    let arguments = ["rawArgs", "params"].iter().find_map(|name| parts::json(string(used, name)?));
    parts::call(field("toolCallId"), field("name"), &arguments.unwrap_or_default())
}

/// Returns the message with a result: its text, or the JSON of what has no single text.
fn result(used: &Value, tally: &mut Tally) -> Option<String> {
    let result = used.get("result").filter(|result| !result.is_null())?;
    let value = result.as_str().and_then(parts::json);
    let texts = ["output", "contents"].iter().find_map(|name| value.as_ref()?.get(name)?.as_str());
    let text = match (texts, result.as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(text)) => text.to_owned(),
        (None, None) => parts::text(result, tally),
    };
    Some(parts::result(string(used, "toolCallId").unwrap_or_default(), string(used, "name"), &text))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    fn read_all(conversation: &Value, bubbles: &Value) -> (Session, Vec<Value>, Vec<String>) {
        let (mut session, mut tally) = (Session::new("c"), Tally::default());
        let find = |id: &str| Ok::<_, Infallible>(bubbles.get(id).cloned());
        let Ok(()) = read(conversation, find, &mut session, &mut tally);
        let messages = session.take().1.into_iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
        (session, messages, tally.iter().map(|(kind, _)| kind.to_owned()).collect())
    }

    fn bubbles() -> Value {
        json!({
            "u": { "type": 1, "text": "where do the gulls nest?", "createdAt": "2026-07-19T09:00:00.000Z" },
            "t": { "type": 2, "text": "", "thinking": { "text": "hm" } },
            "c": { "type": 2, "text": "I look.", "toolFormerData": {
                "name": "run_terminal_cmd", "toolCallId": "call_1", "status": "completed",
                "rawArgs": "{\"command\":\"ls\"}", "params": "{\"command\":\"ls\",\"cwd\":\"\"}", "result": "{\"output\":\"a b\"}" } },
            "a": { "type": 2, "text": "In Ostrava." },
        })
    }

    fn list(ids: &[&str]) -> Value {
        let heads: Vec<Value> = ids.iter().map(|id| json!({ "bubbleId": id, "type": 2 })).collect();
        json!({ "composerId": "c", "name": "Gulls", "modelConfig": { "modelName": "m" }, "fullConversationHeadersOnly": heads })
    }

    #[test]
    fn bubbles_are_messages_in_the_order_of_the_list() {
        let (session, messages, left_out) = read_all(&list(&["u", "t", "c", "a", "gone"]), &bubbles());
        let expected = [
            json!({ "role": "user", "content": "where do the gulls nest?" }),
            json!({ "role": "assistant", "content": "I look.",
                    "tool_calls": [parts::call("call_1", "run_terminal_cmd", &json!({ "command": "ls" }))] }),
            json!({ "role": "tool", "tool_call_id": "call_1", "name": "run_terminal_cmd", "content": "a b" }),
            json!({ "role": "assistant", "content": "In Ostrava." }),
        ];
        assert_eq!(messages, expected);
        assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("Gulls"), Some("m")));
        assert_eq!(left_out, ["missing bubble", "thinking"]);
        // The form of older versions.
        let all = bubbles();
        let old = json!({ "conversation": [all["u"], all["c"], all["a"]] });
        assert_eq!(read_all(&old, &json!({})).1, expected);
    }

    #[test]
    fn what_is_still_being_written_ends_a_conversation() {
        let mut growing = list(&["u", "a"]);
        growing["status"] = json!("generating");
        assert_eq!(read_all(&growing, &bubbles()).1.len(), 1);
        let mut all = bubbles();
        all["c"]["toolFormerData"]["status"] = json!("loading");
        let (_, messages, left_out) = read_all(&list(&["u", "c", "a"]), &all);
        assert_eq!((messages.len(), left_out), (1, vec![UNFINISHED.to_owned()]));
        for odd in
            [json!(null), json!({ "conversation": 7 }), json!({ "conversation": [[], {}, { "text": 5, "type": 9 }] })]
        {
            assert_eq!(read_all(&odd, &json!({})).1, Vec::<Value>::new(), "{odd}");
        }
    }
}
