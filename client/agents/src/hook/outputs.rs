//! Large outputs of tools: finds the text of an output and replaces it with a shorter one. The only I/O is reading the
//! file into which an agent wrote a whole output.
//!
//! Only plain text outputs are replaced. Files that the agent read, pictures, and objects of other tools stay as they
//! are.

use std::io::Read;
use std::path::Path;

use herma_base::own_file;
use herma_client::protocol::limits;
use serde_json::Value;

use crate::agent::Agent;

/// herma stores an output with more chars than this. Claude Code shows 2 KB of a longer output; Codex cuts at 40,000.
pub(super) const THRESHOLD: usize = 30_000;

/// The prefix of the names of herma's own tools. They have their own limits.
const OWN: &str = "mcp__herma";

/// The tool whose outputs Claude Code keeps in files.
const SHELL: &str = "Bash";

/// The tool that searches files.
const SEARCH: &str = "Grep";

/// The prefix of the names of MCP tools.
const OF_SERVER: &str = "mcp__";

/// The chars that Claude Code shows of a text that it keeps in a file.
const PREVIEW: usize = 2_000;

/// The chars of an MCP result from which Claude Code keeps it in a file: 25,000 tokens.
const KEPT_IN_FILE: usize = 100_000;

/// The line of the daemon's preview that names the file reader of Hermes.
const READ_ON: &str = "Use the read_file tool with offset and limit to access specific sections of this output.";

/// An output of a tool that is too large.
#[derive(Debug, PartialEq)]
pub(super) struct Large {
    /// The tool.
    pub(super) tool: String,
    /// The id of the call.
    pub(super) id: String,
    /// The whole text.
    pub(super) text: String,
    /// The chars of the text that the agent itself would show.
    pub(super) shown: usize,
    response: Value,
    at: TextLocation,
}

/// The place of the text in a tool's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextLocation {
    /// The response is the text.
    Whole,
    /// The text is in a field.
    Field(&'static str),
    /// The text is in blocks of content. One text replaces all of them.
    Blocks,
}

/// Returns the output of an event if it is too large. `folder` is the agent's folder for long outputs of this session.
pub(super) fn large(event: &Value, folder: Option<&Path>) -> Option<Large> {
    let string = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let (tool, response) = (string("tool_name"), event.get("tool_response")?);
    if is_of_herma(tool) {
        return None;
    }
    let (at, shown) = find(tool, response)?;
    // Only the shell tool names a path of the agent. Responses of other tools are not trusted for it.
    let path = response.get("persistedOutputPath").and_then(Value::as_str).filter(|_| tool == SHELL);
    let text = path.zip(folder).and_then(|(path, folder)| whole(Path::new(path), folder)).unwrap_or(shown);
    let chars = text.chars().count();
    // An agent's extension may send the whole text of an output of which the agent shows a part.
    let said = event.get("shown_chars").and_then(Value::as_u64).and_then(|chars| usize::try_from(chars).ok());
    let is_in_file = path.is_some() || (tool.starts_with(OF_SERVER) && chars > KEPT_IN_FILE);
    (chars > THRESHOLD).then(|| Large {
        tool: tool.to_owned(),
        id: string("tool_use_id").to_owned(),
        text,
        shown: if is_in_file { PREVIEW } else { said.unwrap_or(chars) },
        response: response.clone(),
        at,
    })
}

/// Returns whether a tool belongs to herma's MCP server.
pub(super) fn is_of_herma(tool: &str) -> bool {
    tool.starts_with(OWN)
}

impl Large {
    /// Returns the response in the tool's own format, with another text.
    pub(super) fn with(self, text: &str) -> Value {
        let mut response = self.response;
        match (self.at, &mut response) {
            (TextLocation::Field(name), Value::Object(fields)) => {
                fields.insert(name.to_owned(), text.into());
                fields.retain(|name, _| !name.starts_with("persistedOutput"));
            }
            _ => response = text.into(),
        }
        response
    }
}

/// Replaces the `READ_ON` line of a preview with one that names the agent's own tools. `handle` is the output's, if
/// known.
pub(super) fn preview(agent: &dyn Agent, text: &str, handle: Option<&str>) -> String {
    let name = handle.map_or_else(|| "that path".to_owned(), |handle| format!("the handle {handle}"));
    let own = format!("the tool `output_read` of the MCP server `herma`, by {name} and a range of lines");
    text.replacen(READ_ON, &agent.reading_advice(&own), 1)
}

/// Replaces the line in all previews of a list of messages.
pub(super) fn previews(agent: &dyn Agent, list: &mut [Value]) {
    for message in list.iter_mut().filter(|message| message.get("role").and_then(Value::as_str) == Some("tool")) {
        if let Some(Value::String(text)) = message.get_mut("content")
            && text.contains(READ_ON)
        {
            *text = preview(agent, text, None);
        }
    }
}

/// Returns the text of a tool's response if the response contains only text.
fn find(tool: &str, response: &Value) -> Option<(TextLocation, String)> {
    let field = |name: &'static str| Some((TextLocation::Field(name), response.get(name)?.as_str()?.to_owned()));
    let is_picture = response.get("isImage").and_then(Value::as_bool) == Some(true);
    match response {
        Value::String(text) => Some((TextLocation::Whole, text.clone())),
        _ if tool == SHELL && !is_picture => field("stdout"),
        _ if tool == SEARCH => field("content"),
        Value::Array(_) if tool.starts_with(OF_SERVER) => Some((TextLocation::Blocks, blocks(response)?)),
        Value::Object(fields) if tool.starts_with(OF_SERVER) && fields.get("structuredContent").is_none() => {
            Some((TextLocation::Blocks, blocks(fields.get("content")?)?))
        }
        _ => None,
    }
}

/// Returns the text of blocks if they all are texts.
fn blocks(content: &Value) -> Option<String> {
    let is_text = |block: &Value| block.get("type").and_then(Value::as_str) == Some("text");
    let text = |block: &Value| block.get("text").filter(|_| is_text(block)).and_then(Value::as_str).map(str::to_owned);
    Some(content.as_array()?.iter().map(text).collect::<Option<Vec<_>>>()?.join("\n"))
}

/// Returns the content of a file in the agent's folder, unless it is too large.
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
