//! Transcripts of Google's Antigravity: for each session a file of JSON lines that only grows.

use serde_json::Value;

use crate::file::{FileReader, Form, SessionFile};
use crate::parts::{self, string};
use crate::time;

/// Reads the records of one file.
pub type Reader = FileReader<Antigravity>;

/// The form of Antigravity's records.
#[derive(Debug)]
pub struct Antigravity;

/// The tags around the user's words, and around what Antigravity adds to them.
const REQUEST: [&str; 2] = ["<USER_REQUEST>", "</USER_REQUEST>"];
const ADDED: [&str; 2] = ["<ADDITIONAL_METADATA>", "</ADDITIONAL_METADATA>"];

impl Form for Antigravity {
    fn is_record(object: &Value) -> bool {
        string(object, "source").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let time = record.get("created_at").and_then(time::read);
        let text = parts::text(record.get("content").unwrap_or(&Value::Null), &mut file.tally);
        match string(record, "source") {
            Some("USER_EXPLICIT") => user(&text, time, file),
            Some("MODEL") => file.say(time, parts::assistant(&text, vec![])),
            source => file.tally.add(source.unwrap_or("record without a source")),
        }
    }
}

fn user(text: &str, time: Option<f64>, file: &mut SessionFile) {
    let (mut said, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(ADDED[0]) {
        let (added, behind) = after.split_once(ADDED[1]).unwrap_or((after, ""));
        said.push_str(before);
        rest = behind;
        let folder = serde_json::from_str::<Value>(added).ok();
        let folder = folder.and_then(|added| string(&added, "cwd").map(str::to_owned));
        file.session().cwd = file.session().cwd.take().or(folder);
    }
    said.push_str(rest);
    let said = REQUEST.iter().fold(said, |said, tag| said.replace(tag, ""));
    file.say_as_user(time, said.trim());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn words_are_read_without_what_is_added() {
        let record = |source: &str, content: &str| json!({ "source": source, "created_at": "2026-02-03T04:05:06Z", "content": content });
        let added = "<ADDITIONAL_METADATA>{\"cwd\":\"/w\"}</ADDITIONAL_METADATA>";
        let (session, messages, left_out) = read::<Antigravity>(&[
            record("USER_EXPLICIT", &format!("<USER_REQUEST>fix it{added}</USER_REQUEST>")),
            record("MODEL", "Done."),
            record("SYSTEM", "x"),
        ]);
        let message = |role: &str, content: &str| json!({ "role": role, "content": content });
        assert_eq!(messages, [message("user", "fix it"), message("assistant", "Done.")]);
        assert_eq!((session.cwd.as_deref(), left_out), (Some("/w"), vec![("SYSTEM".to_owned(), 1)]));
    }
}
