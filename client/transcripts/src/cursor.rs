//! Transcripts of Cursor's command line: for each session a file of JSON lines that only grows. They have no times and no
//! results of tools.

use serde_json::Value;

use crate::elements;
use crate::file::{FileReader, Form, SessionFile};
use crate::parts::{self, string};

/// Reads the records of one file.
pub type Reader = FileReader<Cursor>;

/// The form of Cursor's records.
#[derive(Debug)]
pub struct Cursor;

/// The element with the user's words.
const QUERY: &str = "user_query";

impl Form for Cursor {
    fn is_record(object: &Value) -> bool {
        string(object, "role").or_else(|| string(object, "type")).is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let content = record.pointer("/message/content").or_else(|| record.get("content")).unwrap_or(&Value::Null);
        match string(record, "role") {
            Some("user") => {
                let text = parts::text(content, &mut file.tally);
                file.say_as_user(None, words(&text));
            }
            Some("assistant") => {
                let (mut text, mut calls) = (String::new(), Vec::new());
                for part in parts::each(content) {
                    if string(part, "type") == Some("tool_use") {
                        let field = |name| string(part, name).unwrap_or_default();
                        calls.push(parts::call(field("id"), field("name"), part.get("input").unwrap_or(&Value::Null)));
                    } else {
                        parts::push(&mut text, &parts::text(part, &mut file.tally));
                    }
                }
                file.say(None, parts::assistant(&text, calls));
            }
            Some(role) => file.tally.add(&format!("{role} message")),
            None if string(record, "type") == Some("turn_ended") => file.note(),
            None => file.tally.add(string(record, "type").unwrap_or("record without a type")),
        }
    }
}

/// Returns what the user said: the content of the element for it, if there is one.
fn words(text: &str) -> &str {
    let begin = text.find(&format!("<{QUERY}>"));
    begin.and_then(|at| elements::first(&text[at..], &[QUERY])).map_or(text, |query| query.inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn words_and_calls_are_messages() {
        let said = |role: &str, content: Value| json!({ "role": role, "message": { "content": content } });
        let (_, messages, left_out) = read::<Cursor>(&[
            said(
                "user",
                json!([{ "type": "text", "text": "<attached_files>x</attached_files>\n<user_query>\nmend it\n</user_query>" }]),
            ),
            said(
                "assistant",
                json!([
                    { "type": "text", "text": "I look." }, { "type": "tool_use", "name": "Read", "input": { "path": "/a" } },
                ]),
            ),
            json!({ "type": "turn_ended", "status": "success" }),
            said("user", json!("thanks")),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "mend it" }),
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": [parts::call("", "Read", &json!({ "path": "/a" }))] }),
                json!({ "role": "user", "content": "thanks" }),
            ]
        );
        assert_eq!(left_out, [("system".to_owned(), 1)]);
    }
}
