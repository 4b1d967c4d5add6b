//! Google's Gemini CLI. Its hooks have Claude Code's form, with other names for some events and timeouts in milliseconds.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_transcripts::Transcript;
use herma_transcripts::gemini_cli::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, Compaction, Instructions, Replacement};
use crate::event::EventName;
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;

/// The agent.
#[derive(Debug)]
pub struct GeminiCli;

impl Agent for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini-cli"
    }

    fn title(&self) -> &'static str {
        "Google's Gemini CLI"
    }

    fn mcp_name(&self) -> &'static str {
        "gemini-cli-mcp-client"
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("google", "chat_completions")
    }

    fn program(&self) -> &'static str {
        "gemini"
    }

    fn lowest(&self) -> Version {
        Version(0, 61, 0)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        settings::folder()
    }

    fn with_prompt(&self, prompt: String) -> Vec<String> {
        vec!["--prompt-interactive".into(), prompt]
    }

    fn additions(&self) -> &'static str {
        "hooks for five events, an MCP server"
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit};
        &[(SessionStart, 5), (UserPromptSubmit, 5), (PostToolUse, 5), (Stop, 5), (SessionEnd, 5)]
    }

    fn event_name(&self, event: EventName) -> &'static str {
        match event {
            EventName::UserPromptSubmit => "BeforeAgent",
            EventName::PostToolUse => "AfterTool",
            EventName::Stop => "AfterAgent",
            other => other.hook(),
        }
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        settings::edits(scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        settings::programs()
    }

    fn hooks_of_project(&self, project: &Path) -> Vec<String> {
        settings::hooks_of_project(project)
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        Ok(Check { words: "Gemini CLI has no check of its own; /hooks in it lists the hooks".into(), is_ok: true })
    }

    fn replaced_output(&self, _response: Value, _text: String) -> Option<Value> {
        // What replaces an output is shown as if the tool had been refused.
        None
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with {own}.")
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("GEMINI.md"))
    }

    fn transcripts(&self) -> Vec<PathBuf> {
        self.folder().map(|folder| folder.join("tmp")).into_iter().collect()
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, id: &str, message: &str) -> String {
        let time = "2026-01-01T00:00:00.000Z";
        let header = json!({ "sessionId": id, "startTime": time });
        let record = json!({ "id": "1", "timestamp": time, "type": "user", "content": [{ "text": message }] });
        format!("{header}\n{record}\n")
    }

    fn has_begun(&self, transcript: &Path) -> bool {
        fs::exists(transcript).unwrap_or_default()
    }

    fn origin(&self, _id: &str, _transcript: &Path) -> Option<String> {
        None
    }

    fn keeps_context(&self) -> bool {
        // A resumed session has lost what hooks added to it.
        false
    }

    fn compaction(&self) -> Compaction {
        Compaction {
            instructions: Instructions::None,
            has_proxy: false,
            takes_short_calls: true,
            replacement: Replacement::Rows,
        }
    }
}
