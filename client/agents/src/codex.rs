//! OpenAI's Codex CLI.

mod hooks;
mod settings;
mod toml;

use std::fs;
use std::path::{Path, PathBuf};

use herma_base::{Failure, own_file};
use herma_transcripts::Transcript;
use herma_transcripts::codex::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, Compaction, Instructions, Replacement, Trust};
use crate::event::EventName;
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;

/// The bytes at the beginning of a transcript that are searched for the session's first record.
const BEGINNING: u64 = 256 << 10;

/// The agent.
#[derive(Debug)]
pub struct Codex;

/// The advice for a user who wants another profile for a project.
const TWO_PROFILES: &str = "The hooks of your own settings run in this project, too, and keep its sessions in their profile. For another one, give Codex\nsettings of its own: CODEX_HOME=~/.codex-work herma hooks install codex --trust --profile NAME";

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "OpenAI's Codex CLI"
    }

    fn mcp_name(&self) -> &'static str {
        "codex-mcp-client"
    }

    fn user_agents(&self) -> &'static [&'static str] {
        &["codex"]
    }

    fn provider(&self) -> (&'static str, &'static str) {
        ("openai", "codex_responses")
    }

    fn lowest(&self) -> Version {
        Version(0, 169, 0)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        settings::own_folder()
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("AGENTS.md"))
    }

    fn transcripts(&self) -> Vec<PathBuf> {
        self.folder().map(|folder| folder.join("sessions")).into_iter().collect()
    }

    fn additions(&self) -> &'static str {
        "hooks for six events, which Codex is told to trust, and an MCP server"
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, PreCompact, SessionEnd, SessionStart, Stop, UserPromptSubmit};
        &[
            (SessionStart, 5),
            (UserPromptSubmit, 5),
            (PostToolUse, 5),
            (PreCompact, 25),
            (Stop, 5),
            // Codex allows no more for the end of a session.
            (SessionEnd, 3),
        ]
    }

    fn advice_for_profiles(&self) -> Option<&'static str> {
        Some(TWO_PROFILES)
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        settings::edits(self, scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        settings::programs(self.name()).unwrap_or_default()
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        Ok(hooks::check(self.name()))
    }

    fn trust(&self) -> Option<&dyn Trust> {
        Some(self)
    }

    fn replaced_output(&self, _response: Value, text: String) -> Option<Value> {
        // Codex continues its turn anyway.
        Some(json!({ "continue": false, "stopReason": text }))
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with {own}, or by that path in the shell.")
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, id: &str, message: &str) -> String {
        let time = "2026-01-01T00:00:00.000Z";
        let meta = json!({
            "timestamp": time, "type": "session_meta", "payload": { "id": id, "cwd": "/", "timestamp": time },
        });
        let content = json!([{ "type": "input_text", "text": message }]);
        let item = json!({
            "timestamp": time, "type": "response_item",
            "payload": { "type": "message", "role": "user", "content": content },
        });
        format!("{meta}\n{item}\n")
    }

    fn has_begun(&self, transcript: &Path) -> bool {
        fs::exists(transcript).unwrap_or_default()
    }

    fn origin(&self, id: &str, transcript: &Path) -> Option<String> {
        let text = own_file::read_begin(transcript, BEGINNING).ok()?;
        let mut reader = Reader::new(id);
        String::from_utf8_lossy(&text).lines().for_each(|line| reader.line(line));
        reader.sessions().first()?.parent.clone()
    }

    fn compaction(&self) -> Compaction {
        Compaction {
            instructions: Instructions::None,
            has_proxy: true,
            takes_short_calls: true,
            replacement: Replacement::Rows,
        }
    }
}

impl Trust for Codex {
    fn ask(&self) -> Result<(), String> {
        hooks::listed(self.name()).map(drop)
    }

    fn edit(&self, scope: Scope) -> Result<Edit, Failure> {
        settings::trust(self, scope)
    }

    fn advice(&self) -> &'static str {
        hooks::UNTRUSTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_names_the_session_that_it_is_a_copy_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let meta = r#"{"type":"session_meta","payload":{"id":"f","forked_from_id":"x"}}"#;
        assert!(!Codex.has_begun(&path));
        herma_base::user_file::write(&path, meta).unwrap_or_else(|_| panic!("it can't be written"));
        assert!(Codex.has_begun(&path));
        assert_eq!(Codex.origin("f", &path).as_deref(), Some("x"));
    }
}
