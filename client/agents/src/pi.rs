//! The coding agent pi of Earendil, and Oh My Pi, which came out of it. herma is an extension of both.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use herma_base::{Failure, own_file};
use herma_transcripts::Transcript;
use herma_transcripts::pi::Reader;
use serde_json::{Value, json};

use crate::agent::{Agent, Check, CompactedRows, Compaction, Instructions, Replacement};
use crate::event::EventName;
use crate::rows::entries;
use crate::settings::edit::Edit;
use crate::settings::script::Script;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;
use settings::{EXTENSION, PLACE};

/// The bytes at the beginning of a transcript that are searched for the session's parent.
const BEGINNING: u64 = 64 << 10;

/// One of the agents.
#[derive(Debug)]
pub struct Pi(Variant);

/// The differences between the agents.
#[derive(Debug)]
struct Variant {
    title: &'static str,
    mcp_name: &'static str,
    lowest: Version,
    additions: &'static str,
    extension: Script,
    /// The file with the MCP servers, if the extension can't register one.
    servers: Option<&'static str>,
}

/// pi.
pub static PI: Pi = Pi(Variant {
    title: "Earendil's pi",
    mcp_name: "pi",
    lowest: Version(1, 6, 0),
    additions: "an extension, which also starts an MCP server",
    extension: Script { agent: "pi", text: EXTENSION, of_project: ".pi", path: PLACE },
    servers: None,
});

/// Oh My Pi.
pub static OH_MY_PI: Pi = Pi(Variant {
    title: "Oh My Pi",
    mcp_name: "omp-coding-agent",
    lowest: Version(18, 2, 3),
    additions: "an extension and an MCP server",
    extension: Script { agent: "omp", text: EXTENSION, of_project: ".omp", path: PLACE },
    servers: Some("mcp.json"),
});

impl Agent for Pi {
    fn name(&self) -> &'static str {
        self.0.extension.agent
    }

    fn title(&self) -> &'static str {
        self.0.title
    }

    fn mcp_name(&self) -> &'static str {
        self.0.mcp_name
    }

    fn provider(&self) -> (&'static str, &'static str) {
        (self.name(), "anthropic_messages")
    }

    fn lowest(&self) -> Version {
        self.0.lowest
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        self.0.folder()
    }

    fn additions(&self) -> &'static str {
        self.0.additions
    }

    fn events(&self) -> &'static [(EventName, u32)] {
        use EventName::{PostToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit};
        &[(SessionStart, 5), (UserPromptSubmit, 5), (PostToolUse, 5), (Stop, 5), (SessionEnd, 5)]
    }

    fn event_name(&self, event: EventName) -> &'static str {
        match event {
            EventName::SessionStart => "session_start",
            EventName::UserPromptSubmit => "before_agent_start",
            EventName::PostToolUse => "tool_result",
            EventName::Stop => "turn_end",
            EventName::SessionEnd => "session_shutdown",
            EventName::Compact => "session_before_compact",
            other => other.hook(),
        }
    }

    fn plugin_events(&self) -> &'static [EventName] {
        &[EventName::Compact]
    }

    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        self.0.edits(scope, wanted)
    }

    fn programs(&self) -> Vec<String> {
        self.folder().map(|folder| self.0.programs(&folder)).unwrap_or_default()
    }

    fn has_plugin(&self, scope: Scope) -> Result<bool, Failure> {
        self.0.extension.answers_compactions(scope, &self.folder()?)
    }

    fn check(&self, _scope: Scope, _has_plugin: bool) -> Result<Check, Failure> {
        let words = format!("{} has no check of its own; it says so when an extension fails", self.0.title);
        Ok(Check { words, is_ok: true })
    }

    fn reading_advice(&self, own: &str) -> String {
        format!("Read sections of it with the tool `read`, by that path with offset and limit, or with {own}.")
    }

    fn notes(&self) -> Option<PathBuf> {
        self.folder().ok().map(|folder| folder.join("AGENTS.md"))
    }

    fn transcripts(&self) -> Vec<PathBuf> {
        self.0.transcripts()
    }

    fn reader(&self, id: &str) -> Box<dyn Transcript> {
        Box::new(Reader::new(id))
    }

    fn test_transcript(&self, id: &str, message: &str) -> String {
        let time = "2026-01-01T00:00:00.000Z";
        let header = json!({ "type": "session", "version": 3, "id": id, "timestamp": time, "cwd": "/" });
        let record = json!({
            "type": "message", "id": "1", "parentId": null, "timestamp": time,
            "message": { "role": "user", "content": message },
        });
        format!("{header}\n{record}\n")
    }

    fn has_begun(&self, transcript: &Path) -> bool {
        fs::exists(transcript).unwrap_or_default()
    }

    fn origin(&self, id: &str, transcript: &Path) -> Option<String> {
        let text = own_file::read_begin(transcript, BEGINNING).ok()?;
        let mut reader = Reader::new(id);
        let text = String::from_utf8_lossy(&text);
        // Oh My Pi has a title before it.
        text.lines().take(2).for_each(|line| reader.line(line));
        reader.sessions().first()?.parent.clone()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_names_the_session_that_it_came_out_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t_f.jsonl");
        assert!(!PI.has_begun(&path));
        let header =
            json!({ "type": "session", "id": "f", "timestamp": "t", "parentSession": "/s/2026-01-01_x.jsonl" });
        let title = json!({ "type": "title", "v": 1, "title": "", "pad": "  " });
        for (agent, text) in [(&PI, format!("{header}\n")), (&OH_MY_PI, format!("{title}\n{header}\n"))] {
            herma_base::user_file::write(&path, text).unwrap_or_else(|_| panic!("it can't be written"));
            assert!(agent.has_begun(&path));
            assert_eq!(agent.origin("f", &path).as_deref(), Some("x"), "{}", agent.name());
        }
    }
}
