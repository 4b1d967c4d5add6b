//! Finds out whether the transcript has the answer that ended a turn. Without a terminal there is no event at the end of a
//! session, so the last answer would be read only when the next session begins.

use std::path::Path;

use herma_base::own_file;
use herma_transcripts::Transcript;
use herma_transcripts::qwen_code::Reader;
use serde_json::Value;

/// The bytes at the end of a transcript that are searched.
const END: u64 = 256 << 10;

/// Returns whether the newest message of a transcript is the one that the event names.
pub(super) fn is_there(stop: &Value, transcript: &Path) -> bool {
    let Some(answer) = stop.get("last_assistant_message").and_then(Value::as_str) else { return true };
    let Ok(end) = own_file::read_end(transcript, END) else { return true };
    let mut reader = Reader::new("");
    String::from_utf8_lossy(&end).lines().for_each(|line| reader.line(line));
    let newest = reader.sessions().first_mut().and_then(|session| session.take().1.pop());
    let newest = newest.and_then(|said| serde_json::from_str::<Value>(&said.message).ok()).unwrap_or_default();
    newest["role"] == "assistant" && newest["content"].as_str().is_some_and(|text| text.trim() == answer.trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_message_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let record = |kind: &str, text: &str| {
            let record =
                json!({ "uuid": text, "sessionId": "s", "type": kind, "message": { "parts": [{ "text": text }] } });
            format!("{record}\n")
        };
        let stop = json!({ "last_assistant_message": "Done." });
        assert!(is_there(&stop, &path), "a transcript that can't be read is not waited for");
        let mut text = record("user", "fix it");
        for (more, expected) in [
            (String::new(), false),
            (record("assistant", "I look."), false),
            (record("assistant", "Done."), true),
            (record("system", "telemetry"), true),
            (record("user", "again"), false),
        ] {
            text.push_str(&more);
            herma_base::user_file::write(&path, &text).unwrap_or_else(|_| panic!("it can't be written"));
            assert_eq!(is_there(&stop, &path), expected, "{text}");
        }
        assert!(is_there(&json!({}), &path));
    }
}
