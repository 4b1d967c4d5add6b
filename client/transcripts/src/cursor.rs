//! Transcripts of Cursor's command line: for each session a file of JSON lines that only grows. They have no times and no
//! results of tools.

use serde_json::Value;

use crate::anthropic::{self, Tools};
use crate::file::{FileReader, Form, SessionFile};
use crate::parts::{self, string};

/// Reads the records of one file.
pub type Reader = FileReader<Cursor>;

/// The form of Cursor's records.
#[derive(Debug)]
pub struct Cursor;

/// The tags of the element with the user's words.
const BEGIN: &str = "<user_query>";
const END: &str = "</user_query>";

impl Form for Cursor {
    fn is_record(object: &Value) -> bool {
        string(object, "role").or_else(|| string(object, "type")).is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let content = record.pointer("/message/content").or_else(|| record.get("content")).unwrap_or(&Value::Null);
        match string(record, "role") {
            Some("user") => {
                let texts: Vec<String> =
                    parts::each(content).iter().map(|part| parts::text(part, &mut file.tally)).collect();
                file.say_as_user(None, &words(&texts));
            }
            Some("assistant") => {
                let said = anthropic::assistant(content, &mut Tools::new(), &mut file.tally);
                file.say(None, said);
            }
            Some(role) => file.tally.add(&format!("{role} message")),
            None if string(record, "type") == Some("turn_ended") => file.note(),
            None => file.tally.add(string(record, "type").unwrap_or("record without a type")),
        }
    }
}

/// Returns what the user said: the content of the elements for it, or everything if there are none. Pictures and files
/// next to them stay.
fn words(texts: &[String]) -> String {
    let has_query = texts.iter().any(|text| query(text).is_some());
    let mut said = String::new();
    for text in texts {
        match query(text) {
            Some(query) => parts::push(&mut said, &query),
            None if has_query && !text.starts_with('[') => {}
            None => parts::push(&mut said, text),
        }
    }
    said
}

/// Returns what is between the first beginning and the last end of such elements, without their tags.
fn query(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(BEGIN)?;
    let inner = rest.rsplit_once(END).map_or(rest, |(inner, _)| inner);
    let parts = inner.split(BEGIN).flat_map(|part| part.split(END)).map(str::trim).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("\n"))
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
                json!([{ "type": "text", "text": "<attached_files>x</attached_files>\n<user_query>\nfix it\n</user_query>" }]),
            ),
            said(
                "assistant",
                json!([
                    { "type": "text", "text": "I look." }, { "type": "tool_use", "name": "Read", "input": { "path": "/a" } },
                ]),
            ),
            json!({ "type": "turn_ended", "status": "success" }),
            said("user", json!("thanks")),
            said(
                "user",
                json!([
                    { "type": "text", "text": "<user_query>one</user_query>\n<user_query>two</user_query>" },
                    { "type": "text", "text": "rules of the project" }, { "type": "image" },
                ]),
            ),
            said("user", json!("<user_query>what does </user_query> mean?</user_query>")),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": [parts::call("", "Read", &json!({ "path": "/a" }))] }),
                json!({ "role": "user", "content": "thanks" }),
                json!({ "role": "user", "content": "one\ntwo\n[image]" }),
                json!({ "role": "user", "content": "what does\nmean?" }),
            ]
        );
        assert_eq!(left_out, [("image".to_owned(), 1), ("system".to_owned(), 1)]);
    }
}
