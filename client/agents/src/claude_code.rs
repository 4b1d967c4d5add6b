//! Anthropic's Claude Code.

mod origin;
mod rows;
mod settings;

use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::host::ToolSize;
use herma_transcripts::Transcript;
use herma_transcripts::claude_code::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, CompactedRows, Compaction, Instructions, Replacement};
use crate::answer;
use crate::event::{self, EventName};
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;

/// The environment variable with the context length of the model, in tokens.
const WINDOW: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";

/// The chars that Claude Code adds to the name of a tool of herma's server in its prompt.
const TOOL_NAME: usize = "mcp__herma__\n".len();

/// After how many days Claude Code deletes a transcript, if its settings don't say.
const DAYS: u64 = 30;

/// The agent.
#[derive(Debug)]
pub struct ClaudeCode;

impl Agent for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Anthropic's Claude Code"
    }

    fn mcp_name(&self) -> &'static str {
        "claude-code"
    }

    fn user_agents(&self) -> &'static [&'static str] {
        &["claude-cli"]
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("anthropic", "anthropic_messages")
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn lowest(&self) -> Version {
        Version(2, 1, 197)
    }

    fn lowest_of_plugin(&self) -> Option<Version> {
        Some(Version(2, 1, 330))
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        settings::folder()
    }

    fn hooks_of_project(&self, project: &Path) -> Vec<String> {
        settings::hooks_of_project(self.name(), project)
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("CLAUDE.md"))
    }

    fn transcripts(&self) -> Vec<PathBuf> {
        self.folder().map(|folder| folder.join("projects")).into_iter().collect()
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

    fn plugin_events(&self) -> &'static [EventName] {
        &[EventName::Compact]
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        settings::edits(self, scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        settings::programs(self.name())
    }

    fn has_plugin(&self, scope: Scope) -> Result<bool, Failure> {
        Ok(settings::Places::find(scope)?.module().exists())
    }

    fn switched_off_by(&self, scope: Scope) -> Vec<PathBuf> {
        settings::switched_off_by(scope)
    }

    fn check(&self, scope: Scope, has_plugin: bool) -> Result<Check, Failure> {
        settings::check(scope, has_plugin)
    }

    fn subagent(&self, event: &Value) -> Option<(String, PathBuf)> {
        event::subagent(event)
    }

    fn replaced_output(&self, response: Value, _text: String) -> Option<Value> {
        Some(answer::replaced_output(response))
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with the tool `Read`, by that path with offset and limit, or with {own}.")
    }

    fn definition_chars(&self, tool: &ToolSize) -> usize {
        // Claude Code loads the definition only when the model looks for the tool.
        tool.name + TOOL_NAME
    }

    fn deletes_after_days(&self) -> Option<u64> {
        Some(settings::deletes_after_days().unwrap_or(DAYS))
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, id: &str, message: &str) -> String {
        let row = json!({
            "type": "user", "uuid": id, "parentUuid": null, "sessionId": id, "cwd": "/",
            "timestamp": "2026-01-01T00:00:00.000Z", "message": { "role": "user", "content": message },
        });
        format!("{row}\n")
    }

    fn has_begun(&self, transcript: &Path) -> bool {
        origin::has_begun(transcript)
    }

    fn origin(&self, _id: &str, transcript: &Path) -> Option<String> {
        origin::origin(transcript)
    }

    fn moved(&self, transcript: &Path) -> Option<PathBuf> {
        origin::in_other_project(transcript)
    }

    fn compaction(&self) -> Compaction {
        // A changed call would lose the thoughts that Claude Code attached to it.
        Compaction {
            instructions: Instructions::Text,
            has_proxy: false,
            takes_short_calls: false,
            replacement: Replacement::Rows,
        }
    }

    fn window(&self) -> Option<u64> {
        std::env::var(WINDOW).ok()?.parse().ok()
    }

    fn rows(
        &self,
        list: &[Value],
        rows: &Value,
        with_context: &[String],
        kept: &mut dyn FnMut(&str) -> String,
    ) -> Result<CompactedRows, String> {
        rows::rows(list, rows, with_context, kept)
    }

    fn row_key(&self, prompt: &str) -> Option<String> {
        Some(rows::key(prompt))
    }

    fn newest_mark(&self, rows: &Value) -> Option<String> {
        // Claude Code writes the transcript a little later.
        rows::newest_result(rows).map(|id| format!("\"tool_use_id\":{}", json!(id)))
    }
}
