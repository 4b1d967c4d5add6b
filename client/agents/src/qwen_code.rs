//! Alibaba's Qwen Code. Its hooks, events and answers have Claude Code's form.

mod newest;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use herma_base::host::ToolSize;
use herma_base::{Failure, own_file};
use herma_transcripts::Transcript;
use herma_transcripts::qwen_code::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, Compaction, Instructions, Replacement};
use crate::event::{self, EventName};
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;

/// The bytes at the beginning of a transcript that are searched for the session's parent.
const BEGINNING: u64 = 256 << 10;

/// The chars that Qwen Code adds to a tool's name in its list: the server's name, and the beginning of the description.
const LISTED: usize = "- \"mcp__herma__\": \"\"\n".len() + 160;

/// The agent.
#[derive(Debug)]
pub struct QwenCode;

impl Agent for QwenCode {
    fn name(&self) -> &'static str {
        "qwen-code"
    }

    fn title(&self) -> &'static str {
        "Alibaba's Qwen Code"
    }

    fn mcp_name(&self) -> &'static str {
        "qwen-cli-mcp-client-herma"
    }

    fn user_agents(&self) -> &'static [&'static str] {
        &["qwencode"]
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("qwen", "chat_completions")
    }

    fn program(&self) -> &'static str {
        "qwen"
    }

    fn lowest(&self) -> Version {
        Version(0, 24, 4)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        settings::folder()
    }

    fn with_prompt(&self, prompt: String) -> Vec<String> {
        vec!["--prompt-interactive".into(), prompt]
    }

    fn additions(&self) -> &'static str {
        "hooks for seven events, an MCP server, permission to read large outputs"
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, PreCompact, SessionEnd, SessionStart, Stop, SubagentStop, UserPromptSubmit};
        &[
            (SessionStart, 5),
            (UserPromptSubmit, 5),
            (PostToolUse, 5),
            (PreCompact, 25),
            (Stop, 5),
            (SubagentStop, 5),
            (SessionEnd, 5),
        ]
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        settings::edits(self, scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        settings::programs(self.name())
    }

    fn hooks_of_project(&self, project: &Path) -> Vec<String> {
        settings::hooks_of_project(self.name(), project)
    }

    fn switched_off_by(&self, scope: Scope) -> Vec<PathBuf> {
        settings::switched_off_by(scope)
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        Ok(Check { words: "Qwen Code has no check of its own; /hooks in it lists the hooks".into(), is_ok: true })
    }

    fn subagent(&self, event: &Value) -> Option<(String, PathBuf)> {
        event::subagent(event)
    }

    fn replaced_output(&self, _response: Value, _text: String) -> Option<Value> {
        // It ignores a replacement, and keeps large outputs in files itself.
        None
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with {own}.")
    }

    fn definition_chars(&self, tool: &ToolSize) -> usize {
        // It lists a name and the beginning of the description, and loads the rest when the model looks for the tool.
        tool.whole.min(tool.name + LISTED)
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("QWEN.md"))
    }

    fn transcripts(&self) -> Vec<PathBuf> {
        settings::transcripts().into_iter().collect()
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, id: &str, message: &str) -> String {
        let record = json!({
            "uuid": id, "parentUuid": null, "sessionId": id, "timestamp": "2026-01-01T00:00:00.000Z", "type": "user",
            "provenance": "real_user", "cwd": "/", "message": { "role": "user", "parts": [{ "text": message }] },
        });
        format!("{record}\n")
    }

    fn has_begun(&self, transcript: &Path) -> bool {
        fs::exists(transcript).unwrap_or_default()
    }

    fn is_written(&self, stop: &Value, transcript: &Path) -> bool {
        newest::is_there(stop, transcript)
    }

    fn origin(&self, id: &str, transcript: &Path) -> Option<String> {
        let text = own_file::read_begin(transcript, BEGINNING).ok()?;
        let mut reader = Reader::new(id);
        String::from_utf8_lossy(&text).lines().for_each(|line| reader.line(line));
        reader.sessions().first()?.parent.clone()
    }

    fn keeps_context(&self) -> bool {
        // The context of a session's beginning is part of its system prompt, which each process builds again.
        false
    }

    fn compaction(&self) -> Compaction {
        Compaction {
            instructions: Instructions::Context,
            has_proxy: false,
            takes_short_calls: true,
            replacement: Replacement::Rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_names_the_session_that_it_came_out_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let parent = json!({
            "uuid": "1", "sessionId": "f", "type": "system", "subtype": "parent_session",
            "systemPayload": { "parentSessionId": "x" },
        });
        assert!(!QwenCode.has_begun(&path));
        herma_base::user_file::write(&path, format!("{parent}\n")).unwrap_or_else(|_| panic!("it can't be written"));
        assert!(QwenCode.has_begun(&path));
        assert_eq!(QwenCode.origin("f", &path).as_deref(), Some("x"));
    }
}
