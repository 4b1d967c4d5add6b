//! Large outputs of tools: which text it is, and where a shorter one goes. Pure but for reading the file in which a
//! agent put the whole of it.
//!
//! Only outputs that are plain text are replaced. Files that were read, pictures, and objects of other tools stay as they
//! are.

use std::io::Read;
use std::path::Path;

use herma_base::own_file;
use herma_client::protocol::limits;
use serde_json::Value;

use crate::agent::Agent;

/// Chars of an output from which it is kept by herma. Claude Code itself shows 2 KB of what is longer; Codex cuts at
/// 40,000.
pub(super) const THRESHOLD: usize = 30_000;

/// What the names of tools of our own begin with; they have limits of their own.
const OWN: &str = "mcp__herma";

/// The tool whose outputs Claude Code keeps in files.
const SHELL: &str = "Bash";

/// The tool that searches files.
const SEARCH: &str = "Grep";

/// The prefix of the names of MCP tools.
const OF_SERVER: &str = "mcp__";

/// Chars of a text that Claude Code keeps in a file, which it shows.
const PREVIEW: usize = 2_000;

/// Chars from which Claude Code keeps a result of an MCP server in a file: 25,000 tokens.
const KEPT_IN_FILE: usize = 100_000;

/// The line of the daemon's preview that names the file reader of Hermes.
const READ_ON: &str = "Use the read_file tool with offset and limit to access specific sections of this output.";

/// A tool's output that is too large.
#[derive(Debug, PartialEq)]
pub(super) struct Large {
    /// The tool.
    pub(super) tool: String,
    /// The call.
    pub(super) id: String,
    /// The whole text.
    pub(super) text: String,
    /// Chars that the agent itself would show of it.
    pub(super) shown: usize,
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
    /// In blocks of content, which one text takes the place of.
    Blocks,
}

/// The output of an event if it is too large. `folder` is where the agent keeps what it cut of this session.
pub(super) fn large(event: &Value, folder: Option<&Path>) -> Option<Large> {
    let string = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let (tool, response) = (string("tool_name"), event.get("tool_response")?);
    if is_of_herma(tool) {
        return None;
    }
    let (at, shown) = find(tool, response)?;
    // What a tool of somebody else says is no path of the agent.
    let path = response.get("persistedOutputPath").and_then(Value::as_str).filter(|_| tool == SHELL);
    let text = path.zip(folder).and_then(|(path, folder)| whole(Path::new(path), folder)).unwrap_or(shown);
    let chars = text.chars().count();
    let is_in_file = path.is_some() || (tool.starts_with(OF_SERVER) && chars > KEPT_IN_FILE);
    (chars > THRESHOLD).then(|| Large {
        tool: tool.to_owned(),
        id: string("tool_use_id").to_owned(),
        text,
        shown: if is_in_file { PREVIEW } else { chars },
        response: response.clone(),
        at,
    })
}

/// Whether a tool is one of herma's MCP server.
pub(super) fn is_of_herma(tool: &str) -> bool {
    tool.starts_with(OWN)
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
            _ => response = text.into(),
        }
        response
    }
}

/// Replaces that line of a preview by one that names the agent's own tools. `handle` is the output's, if it is known.
pub(super) fn preview(agent: &dyn Agent, text: &str, handle: Option<&str>) -> String {
    let name = handle.map_or_else(|| "that path".to_owned(), |handle| format!("the handle {handle}"));
    let own = format!("the tool `output_read` of the MCP server `herma`, by {name} and a range of lines");
    text.replacen(READ_ON, &agent.reading_advice(&own), 1)
}

/// Does the same for all previews in a list of messages.
pub(super) fn previews(agent: &dyn Agent, list: &mut [Value]) {
    for message in list.iter_mut().filter(|message| message.get("role").and_then(Value::as_str) == Some("tool")) {
        if let Some(Value::String(text)) = message.get_mut("content")
            && text.contains(READ_ON)
        {
            *text = preview(agent, text, None);
        }
    }
}

/// Returns the text of a tool's response if the response is nothing but text.
fn find(tool: &str, response: &Value) -> Option<(Place, String)> {
    let field = |name: &'static str| Some((Place::Field(name), response.get(name)?.as_str()?.to_owned()));
    let is_picture = response.get("isImage").and_then(Value::as_bool) == Some(true);
    match response {
        Value::String(text) => Some((Place::Whole, text.clone())),
        _ if tool == SHELL && !is_picture => field("stdout"),
        _ if tool == SEARCH => field("content"),
        Value::Array(_) if tool.starts_with(OF_SERVER) => Some((Place::Blocks, blocks(response)?)),
        Value::Object(fields) if tool.starts_with(OF_SERVER) && fields.get("structuredContent").is_none() => {
            Some((Place::Blocks, blocks(fields.get("content")?)?))
        }
        _ => None,
    }
}

/// The text of blocks, if they are all texts.
fn blocks(content: &Value) -> Option<String> {
    let is_text = |block: &Value| block.get("type").and_then(Value::as_str) == Some("text");
    let text = |block: &Value| block.get("text").filter(|_| is_text(block)).and_then(Value::as_str).map(str::to_owned);
    Some(content.as_array()?.iter().map(text).collect::<Option<Vec<_>>>()?.join("\n"))
}

/// What an agent put into a file of its folder, if it is one and not too large.
fn whole(path: &Path, folder: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).ok()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let limit = u64::try_from(limits::FRAME / 2).ok()?;
    if !path.starts_with(std::fs::canonicalize(folder).ok()?) || !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    let file = own_file::open(&path).ok()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claude_code::ClaudeCode;
    use crate::codex::Codex;

    #[test]
    fn a_shorter_text_comes_back_in_the_form_that_the_tool_has() {
        let long = "x".repeat(THRESHOLD + 1);
        let text = json!({ "type": "text", "text": long });
        for (tool, response, shorter) in [
            ("Bash", json!(long), json!("short")),
            (
                "Bash",
                json!({ "stdout": long, "stderr": "e", "interrupted": false, "isImage": false, "persistedOutputSize": 9 }),
                json!({ "stdout": "short", "stderr": "e", "interrupted": false, "isImage": false }),
            ),
            ("Grep", json!({ "mode": "content", "content": long }), json!({ "mode": "content", "content": "short" })),
            ("mcp__other__x", json!(long), json!("short")),
            ("mcp__other__x", json!([text]), json!("short")),
            ("mcp__other__x", json!({ "content": [text] }), json!("short")),
        ] {
            let event = json!({ "tool_name": tool, "tool_use_id": "1", "tool_response": response });
            let large = large(&event, None).unwrap();
            assert_eq!((large.tool.as_str(), large.id.as_str(), large.text.len()), (tool, "1", THRESHOLD + 1));
            assert_eq!(large.with("short"), shorter, "{tool}");
        }
    }

    #[test]
    fn what_is_small_or_no_plain_text_or_our_own_is_left_alone() {
        let long = "x".repeat(THRESHOLD + 1);
        let text = json!({ "type": "text", "text": long });
        let picture = json!({ "type": "image", "source": { "type": "base64", "data": long } });
        for (tool, response) in [
            ("Bash", json!({ "stdout": "x".repeat(THRESHOLD) })),
            ("Bash", json!({ "stdout": format!("data:image/png;base64,{long}"), "isImage": true })),
            ("Bash", json!(7)),
            ("Read", json!({ "type": "text", "file": { "filePath": "/f", "content": long, "numLines": 1 } })),
            ("Read", json!({ "type": "image", "file": { "base64": long, "type": "image/png" } })),
            ("Read", json!([picture, text])),
            ("Task", json!({ "status": "completed", "prompt": "look", "content": [text], "totalTokens": 9 })),
            ("Agent", json!({ "agentId": "a1", "content": [text], "usage": {} })),
            ("Write", json!({ "type": "create", "filePath": "/f", "content": long, "structuredPatch": [] })),
            ("WebFetch", json!({ "result": long, "code": 200 })),
            ("mcp__other__x", json!([text, picture])),
            ("mcp__other__x", json!([{ "type": "resource", "text": long }])),
            ("mcp__other__x", json!({ "content": [text], "structuredContent": { "a": 1 } })),
            ("mcp__herma__output_read", json!(long)),
        ] {
            assert_eq!(
                large(&json!({ "tool_name": tool, "tool_response": response }), None),
                None,
                "{tool} {response:.80}"
            );
        }
        assert_eq!(large(&json!({}), None), None);
    }

    #[test]
    fn a_preview_names_the_tools_that_the_client_has() {
        let block = format!(
            "<persisted-output>\nFull output saved to: /o/out_1.txt\n{READ_ON}\n\nPreview (first 3 chars):\nrow"
        );
        for (agent, has_read) in [(&ClaudeCode as &dyn Agent, true), (&Codex, false)] {
            let shown = preview(agent, &block, Some("out_1"));
            assert!(shown.contains("`output_read`") && shown.contains("handle out_1"), "{shown}");
            assert_eq!(shown.contains("`Read`"), has_read, "{shown}");
            assert!(!shown.contains("read_file") && shown.ends_with("\nrow"), "{shown}");
            let mut list = [json!({ "role": "tool", "content": block }), json!({ "role": "user", "content": block })];
            previews(agent, &mut list);
            assert_eq!(list[0]["content"], preview(agent, &block, None));
            assert_eq!(list[1]["content"], block, "the user may quote one");
        }
    }

    #[test]
    fn the_whole_text_is_read_where_the_client_kept_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.txt");
        let long = "y".repeat(THRESHOLD + 5);
        herma_base::user_file::write(&path, &long).unwrap_or_else(|_| panic!("it can't be written"));
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
