//! Large outputs of tools: which text it is, and where a shorter one goes. Pure but for reading the file in which a
//! client put the whole of it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use herma_client::protocol::limits;
use serde_json::Value;

/// Chars of an output from which it is kept by herma. Claude Code itself shows 2 KB of what is longer; Codex cuts at
/// 40,000.
pub(super) const THRESHOLD: usize = 30_000;

/// What the names of tools of our own begin with; they have limits of their own.
const OWN: &str = "mcp__herma";

/// The tool whose outputs Claude Code keeps in files.
const SHELL: &str = "Bash";

/// A tool's output that is too large.
#[derive(Debug, PartialEq)]
pub(super) struct Large {
    /// The tool.
    pub(super) tool: String,
    /// The call.
    pub(super) id: String,
    /// The whole text.
    pub(super) text: String,
    response: Value,
    at: Place,
}

/// Where in what a tool said its text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the text.
    Whole,
    /// In a field.
    Field(&'static str),
    /// In the text of a file that was read.
    File,
    /// In blocks of content, which one text takes the place of.
    Blocks,
}

/// The output of an event if it is too large. `folder` is where the client keeps what it cut of this session.
pub(super) fn large(event: &Value, folder: Option<&Path>) -> Option<Large> {
    let string = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let (tool, response) = (string("tool_name"), event.get("tool_response")?);
    if tool.starts_with(OWN) {
        return None;
    }
    let (at, shown) = find(response)?;
    // What a tool of somebody else says is no path of the client.
    let path = response.get("persistedOutputPath").and_then(Value::as_str).filter(|_| tool == SHELL);
    let text = path.zip(folder).and_then(|(path, folder)| whole(Path::new(path), folder)).unwrap_or(shown);
    let large =
        || Large { tool: tool.to_owned(), id: string("tool_use_id").to_owned(), text, response: response.clone(), at };
    Some(large()).filter(|large| large.text.chars().count() > THRESHOLD)
}

impl Large {
    /// What the tool said, in its own form, with another text.
    pub(super) fn with(self, text: &str) -> Value {
        let mut response = self.response;
        match (self.at, &mut response) {
            (Place::Field(name), Value::Object(fields)) => {
                fields.insert(name.to_owned(), text.into());
                fields.retain(|name, _| !name.starts_with("persistedOutput"));
            }
            (Place::File, Value::Object(fields)) => {
                if let Some(content) = fields.get_mut("file").and_then(|file| file.get_mut("content")) {
                    *content = text.into();
                }
            }
            _ => response = text.into(),
        }
        response
    }
}

/// The text of what a tool said.
fn find(response: &Value) -> Option<(Place, String)> {
    match response {
        Value::String(text) => Some((Place::Whole, text.clone())),
        Value::Array(_) => Some((Place::Blocks, blocks(response)?)),
        Value::Object(fields) => {
            let field = |name: &'static str| {
                let text = fields.get(name)?.as_str()?;
                Some((Place::Field(name), text.to_owned()))
            };
            let file = || Some((Place::File, fields.get("file")?.get("content")?.as_str()?.to_owned()));
            let inner = || Some((Place::Blocks, blocks(fields.get("content")?)?));
            field("stdout").or_else(file).or_else(|| field("content")).or_else(inner)
        }
        _ => None,
    }
}

/// The text of blocks, if they are all texts.
fn blocks(content: &Value) -> Option<String> {
    let text = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    Some(content.as_array()?.iter().map(text).collect::<Option<Vec<_>>>()?.join("\n"))
}

/// What a client put into a file of its folder, if it is one and not too large.
fn whole(path: &Path, folder: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).ok()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let limit = u64::try_from(limits::FRAME / 2).ok()?;
    if !path.starts_with(std::fs::canonicalize(folder).ok()?) || !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    let file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shorter_text_comes_back_in_the_form_that_the_tool_has() {
        let long = "x".repeat(THRESHOLD + 1);
        for (response, shorter) in [
            (json!(long), json!("short")),
            (
                json!({ "stdout": long, "stderr": "e", "interrupted": false, "persistedOutputSize": 9 }),
                json!({ "stdout": "short", "stderr": "e", "interrupted": false }),
            ),
            (
                json!({ "type": "text", "file": { "filePath": "/f", "content": long, "numLines": 1 } }),
                json!({ "type": "text", "file": { "filePath": "/f", "content": "short", "numLines": 1 } }),
            ),
            (json!({ "mode": "content", "content": long }), json!({ "mode": "content", "content": "short" })),
            (json!([{ "type": "text", "text": long }]), json!("short")),
            (json!({ "content": [{ "type": "text", "text": long }] }), json!("short")),
        ] {
            let event = json!({ "tool_name": "T", "tool_use_id": "1", "tool_response": response });
            let large = large(&event, None).unwrap();
            assert_eq!((large.tool.as_str(), large.id.as_str(), large.text.len()), ("T", "1", THRESHOLD + 1));
            assert_eq!(large.with("short"), shorter);
        }
    }

    #[test]
    fn what_is_small_or_no_text_or_our_own_is_left_alone() {
        let long = "x".repeat(THRESHOLD + 1);
        for (tool, response) in [
            ("Bash", json!({ "stdout": "x".repeat(THRESHOLD) })),
            ("Bash", json!(7)),
            ("Read", json!([{ "type": "image", "source": {} }, { "type": "text", "text": long }])),
            ("mcp__herma__output_read", json!(long)),
        ] {
            assert_eq!(large(&json!({ "tool_name": tool, "tool_response": response }), None), None);
        }
        assert_eq!(large(&json!({}), None), None);
    }

    #[test]
    fn the_whole_text_is_read_where_the_client_kept_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.txt");
        let long = "y".repeat(THRESHOLD + 5);
        crate::cli::write_file(&path, &long).unwrap_or_else(|_| panic!("it can't be written"));
        let other = tempfile::tempdir().unwrap();
        for (tool, path, folder, text) in [
            ("Bash", path.display().to_string(), folder.path(), Some(&long)),
            ("Bash", "/no/such".into(), folder.path(), None),
            ("Bash", path.display().to_string(), other.path(), None),
            ("mcp__other__x", path.display().to_string(), folder.path(), None),
        ] {
            let response = json!({ "stdout": "cut", "persistedOutputPath": path });
            let large = large(&json!({ "tool_name": tool, "tool_response": response }), Some(folder));
            assert_eq!(large.map(|large| large.text).as_ref(), text, "{tool} {path}");
        }
    }
}
