//! OpenCode. herma is a plugin of it.

use std::path::PathBuf;

use herma_base::Failure;
use herma_transcripts::Transcript;
use herma_transcripts::opencode::Reader;
use serde_json::json;

use crate::agent::{Agent, Check, Compaction, Instructions, Replacement};
use crate::event::EventName;
use crate::settings::edit::Edit;
use crate::settings::script::Script;
use crate::settings::wanted::{self, HermaEntries, Scope, user_home};
use crate::version::Version;

/// The plugin. It also starts the MCP server.
const PLUGIN: Script = Script {
    agent: "opencode",
    text: include_str!("opencode/plugin.js"),
    of_project: ".opencode",
    path: "plugin/herma.js",
};

/// The agent.
#[derive(Debug)]
pub struct OpenCode;

impl Agent for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn mcp_name(&self) -> &'static str {
        "opencode"
    }

    fn user_agents(&self) -> &'static [&'static str] {
        &["opencode"]
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("opencode", "anthropic_messages")
    }

    fn lowest(&self) -> Version {
        Version(1, 18, 33)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        match wanted::folder("XDG_CONFIG_HOME") {
            Some(settings) => Ok(settings.join("opencode")),
            None => Ok(user_home()?.join(".config/opencode")),
        }
    }

    fn with_prompt(&self, prompt: String) -> Vec<String> {
        vec!["--prompt".into(), prompt]
    }

    fn additions(&self) -> &'static str {
        "a plugin, which also starts an MCP server"
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit};
        &[(SessionStart, 5), (UserPromptSubmit, 5), (PostToolUse, 5), (Stop, 5), (SessionEnd, 5)]
    }

    fn event_name(&self, event: EventName) -> &'static str {
        match event {
            EventName::SessionStart => "first chat.message",
            EventName::UserPromptSubmit => "chat.message",
            EventName::PostToolUse => "tool.execute.after",
            EventName::Stop => "event",
            EventName::SessionEnd => "dispose",
            EventName::Compact => "session.compacting",
            other => other.hook(),
        }
    }

    fn plugin_events(&self) -> &'static [EventName] {
        &[EventName::Compact]
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        PLUGIN.edits(scope, &self.folder()?, wanted)
    }

    fn programs(&self) -> Vec<String> {
        self.folder().map(|folder| PLUGIN.programs(&folder)).unwrap_or_default()
    }

    fn has_plugin(&self, scope: Scope) -> Result<bool, Failure> {
        PLUGIN.answers_compactions(scope, &self.folder()?)
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        Ok(Check { words: "`opencode debug config` lists the plugins that OpenCode loads".into(), is_ok: true })
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with {own}.")
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("AGENTS.md"))
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, _id: &str, message: &str) -> String {
        let info = json!({ "role": "user", "time": { "created": 1_767_225_600_000_u64 } });
        json!({ "id": "msg_1", "info": info, "parts": [{ "type": "text", "text": message }] }).to_string()
    }

    fn sends_records(&self) -> bool {
        true
    }

    fn compaction(&self) -> Compaction {
        Compaction {
            instructions: Instructions::Context,
            has_proxy: false,
            takes_short_calls: true,
            replacement: Replacement::Text,
        }
    }
}
