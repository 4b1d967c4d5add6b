//! OpenClaw. herma is its context engine.

mod config;
mod settings;

use std::path::PathBuf;

use herma_base::{Failure, own_file};
use herma_transcripts::Transcript;
use herma_transcripts::pi::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, CompactedRows, Compaction, Instructions, Replacement};
use crate::event::EventName;
use crate::rows::entries;
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;
use settings::ENGINE;

/// The most bytes of the configuration that are read.
const LARGEST: u64 = 4 << 20;

/// The agent.
#[derive(Debug)]
pub struct OpenClaw;

impl Agent for OpenClaw {
    fn name(&self) -> &'static str {
        "openclaw"
    }

    fn title(&self) -> &'static str {
        "OpenClaw"
    }

    fn mcp_name(&self) -> &'static str {
        "openclaw-bundle-mcp"
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("openclaw", "anthropic_messages")
    }

    fn lowest(&self) -> Version {
        Version(2026, 9, 6)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        settings::folder()
    }

    fn with_prompt(&self, prompt: String) -> Vec<String> {
        ["agent", "--local", "--agent", "main", "--message"].map(str::to_owned).into_iter().chain([prompt]).collect()
    }

    fn additions(&self) -> &'static str {
        "a context engine and an MCP server"
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, SessionStart, Stop, UserPromptSubmit};
        &[(SessionStart, 5), (UserPromptSubmit, 5), (PostToolUse, 5), (Stop, 5)]
    }

    fn event_name(&self, event: EventName) -> &'static str {
        match event {
            EventName::SessionStart => "assemble",
            EventName::UserPromptSubmit => "first assemble",
            EventName::PostToolUse => "tool result middleware",
            EventName::Stop => "commitTurn",
            EventName::Compact => "compact",
            other => other.hook(),
        }
    }

    fn plugin_events(&self) -> &'static [EventName] {
        &[EventName::Compact]
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        settings::edits(scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        let Ok(folder) = self.folder() else { return Vec::new() };
        let server = own_file::read(&settings::config(&folder), LARGEST).ok();
        let server = server.and_then(|text| config::program(&String::from_utf8_lossy(&text)));
        ENGINE.programs(&folder).into_iter().chain(server).collect()
    }

    fn has_plugin(&self, scope: Scope) -> Result<bool, Failure> {
        ENGINE.answers_compactions(scope, &self.folder()?)
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        Ok(Check { words: "`openclaw plugins inspect herma --runtime` asks OpenClaw itself".into(), is_ok: true })
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with {own}.")
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("workspace/AGENTS.md"))
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, _id: &str, message: &str) -> String {
        let time = "2026-01-01T00:00:00.000Z";
        let message = json!({ "role": "user", "content": message });
        json!({ "type": "message", "id": "1", "parentId": null, "timestamp": time, "message": message }).to_string()
    }

    fn sends_records(&self) -> bool {
        true
    }

    fn keeps_context(&self) -> bool {
        false
    }

    fn compaction(&self) -> Compaction {
        Compaction {
            instructions: Instructions::None,
            has_proxy: false,
            takes_short_calls: false,
            replacement: Replacement::Rows,
        }
    }

    fn rows(
        &self,
        list: &[Value],
        rows: &Value,
        _with_context: &[String],
        kept: &mut dyn FnMut(&str) -> String,
    ) -> Result<CompactedRows, String> {
        entries::compaction(list, rows, kept)
    }
}
