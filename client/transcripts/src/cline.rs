//! Conversations of Cline and of Roo Code, which came out of it: a file with the whole conversation, which the program
//! rewrites each time.

use serde_json::Value;

use crate::anthropic::{self, Tools};
use crate::parts::string;
use crate::{Session, Tally, TimedMessage, elements, time};

/// Elements that these programs add after the user's words.
const CONTEXT: [&str; 1] = ["environment_details"];

/// Elements with the user's words.
const WORDS: [&str; 4] = ["task", "feedback", "user_message", "answer"];

/// Reads the content of a file. `name` is the session's id unless the file has another. Returns `None` if it is no
/// conversation.
#[must_use]
pub fn read(name: &str, file: &Value, tally: &mut Tally) -> Option<Session> {
    let messages = file.as_array().or_else(|| file.get("messages")?.as_array())?;
    let mut session = Session::new(string(file, "sessionId").unwrap_or(name));
    session.title = string(file, "title").map(str::to_owned);
    session.cwd = string(file, "cwd").map(str::to_owned);
    let mut tools = Tools::new();
    for message in messages {
        let time = message.get("ts").and_then(time::read);
        for message in anthropic::messages(message, words, &mut tools, tally) {
            session.push(TimedMessage { time, message });
        }
    }
    Some(session)
}

/// Returns what the user said in a part; `None` if the program added all of it.
fn words(text: &str) -> Option<&str> {
    let (said, added) = elements::without(text, &CONTEXT);
    if added > 0 && said.is_empty() {
        return None;
    }
    let whole = elements::first(said, &WORDS).filter(|element| element.rest.trim().is_empty());
    Some(whole.map_or(said, |element| element.inner))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_the_file_are_read() {
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        let messages = json!([
            { "role": "user", "ts": 1_767_225_600_000_u64, "content": [
                { "type": "text", "text": "<task>\nfix it\n</task>" },
                { "type": "text", "text": "<environment_details>\nx\n</environment_details>" },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "text": "t" }, { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "c", "name": "read_file", "input": { "path": "/a" } },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": text("a") }] },
            { "role": "user", "content": "<task>one</task> and <task>two</task>" },
        ]);
        for (file, id) in [(messages.clone(), "s"), (json!({ "sessionId": "m", "messages": messages }), "m")] {
            let mut tally = Tally::default();
            let mut session = read("s", &file, &mut tally).unwrap();
            assert_eq!(session.id, id);
            let said = session.take().1;
            assert_eq!(said[0].time, Some(1_767_225_600.0));
            let said: Vec<Value> = said.iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
            assert_eq!(said.len(), 4, "{said:?}");
            assert_eq!(said[0], json!({ "role": "user", "content": "fix it" }));
            assert_eq!((&said[1]["content"], &said[1]["tool_calls"][0]["id"]), (&json!("I look."), &json!("c")));
            assert_eq!(said[2], json!({ "role": "tool", "tool_call_id": "c", "name": "read_file", "content": "a" }));
            assert_eq!(said[3]["content"], "<task>one</task> and <task>two</task>");
            assert_eq!(tally.iter().collect::<Vec<_>>(), [("context of the client", 1), ("thinking", 1)]);
        }
        for odd in [json!({}), json!(7), json!({ "messages": {} })] {
            assert!(read("s", &odd, &mut Tally::default()).is_none(), "{odd}");
        }
    }
}
