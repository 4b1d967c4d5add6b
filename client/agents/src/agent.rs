//! The properties of an agent that herma needs. Each agent has a folder with one `impl Agent`; [`crate::known`] lists
//! them.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::host::ToolSize;
use herma_transcripts::Transcript;
use serde_json::Value;

use crate::answer;
use crate::event::EventName;
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::Version;

/// A program that people work with. It calls herma's hooks at the events of its sessions.
pub trait Agent: Debug + Send + Sync {
    /// Returns the agent's name in commands. It also prefixes the ids of its sessions.
    fn name(&self) -> &'static str;

    /// Returns the agent's name for people.
    fn title(&self) -> &'static str;

    /// Returns the agent's name in the client info of the Model Context Protocol.
    fn mcp_name(&self) -> &'static str;

    /// Returns how the name of the agent begins in the header `user-agent` of its requests, in lower case.
    fn user_agents(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the provider of the agent's model and the form of its requests, as the ledger names them.
    fn provider(&self) -> (&'static str, &'static str);

    // The program.

    /// Returns the name of the agent's program.
    fn program(&self) -> &'static str {
        self.name()
    }

    /// Returns the lowest version whose hooks were tried with herma.
    fn lowest(&self) -> Version;

    /// Returns the lowest version that takes herma's plugin; `None` if there is no plugin for it.
    fn lowest_of_plugin(&self) -> Option<Version> {
        None
    }

    /// Returns the folder with the user's own settings.
    ///
    /// # Errors
    /// The user has no home directory.
    fn folder(&self) -> Result<PathBuf, Failure>;

    /// Returns the arguments with which the agent begins with a prompt, and goes on with its user.
    fn with_prompt(&self, prompt: String) -> Vec<String> {
        vec![prompt]
    }

    // Settings.

    /// Returns what herma adds to the settings, for people.
    fn additions(&self) -> &'static str;

    /// Returns the events in the agent's settings, each with its timeout in seconds. herma gives up earlier.
    fn events(&self) -> &'static [(EventName, u32)];

    /// Returns the agent's own name of an event.
    fn event_name(&self, event: EventName) -> &'static str {
        event.hook()
    }

    /// Returns the events that herma's plugin for the agent reports.
    fn plugin_events(&self) -> &'static [EventName] {
        &[]
    }

    /// Returns the edits of the agent's files that install herma, or with `None` uninstall it.
    ///
    /// # Errors
    /// A file can't be read or parsed.
    fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure>;

    /// Returns the programs of herma that the user's own settings start. If the settings can't be read, returns none.
    fn programs(&self) -> Vec<String>;

    /// Returns whether a plugin of herma is installed next to the hooks.
    ///
    /// # Errors
    /// The folder of the settings is unknown.
    fn has_plugin(&self, _scope: Scope) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Returns the commands of herma's hooks in the settings of a project.
    fn hooks_of_project(&self, _project: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Returns what to do for a profile of a project's own, if the user's hooks can't know whether the project's run.
    fn advice_for_profiles(&self) -> Option<&'static str> {
        None
    }

    /// Returns the settings files that switch all hooks off.
    fn switched_off_by(&self, _scope: Scope) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Asks the agent itself whether it accepts the installed hooks and plugin.
    ///
    /// # Errors
    /// The folder of the settings is unknown.
    fn check(&self, scope: Scope, has_plugin: bool) -> Result<Check, Failure>;

    /// Returns how its user trusts hooks, or `None` if the agent runs hooks without trust.
    fn trust(&self) -> Option<&dyn Trust> {
        None
    }

    // Events.

    /// Returns the id and the transcript of the subagent of an event.
    fn subagent(&self, _event: &Value) -> Option<(String, PathBuf)> {
        None
    }

    /// Returns the answer that replaces the output of a tool with `text`. `response` is the tool's own format with that
    /// text in it. Returns `None` if the agent takes no replacement.
    fn replaced_output(&self, _response: Value, text: String) -> Option<Value> {
        Some(answer::replaced_output(text.into()))
    }

    /// Returns the sentence for the model on how to read a spilled output. `own` names the tool of herma's MCP server.
    fn reading_advice(&self, own: &str) -> String;

    /// Returns the chars of an MCP tool's definition in the agent's prompt.
    fn definition_chars(&self, tool: &ToolSize) -> usize {
        tool.whole
    }

    /// Returns the file with the user's own instructions for all projects.
    fn notes(&self) -> Option<PathBuf>;

    // Transcripts.

    /// Returns the folders with the transcripts of all sessions; none if the sessions are in a database.
    fn transcripts(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns after how many days the agent deletes its transcripts; `None` if it keeps them.
    fn deletes_after_days(&self) -> Option<u64> {
        None
    }

    /// Returns a reader for the transcript of a session.
    fn reader(&self, id: &str) -> Box<dyn Transcript>;

    /// Returns a transcript of a session with one message of the user.
    fn test_transcript(&self, id: &str, message: &str) -> String;

    /// Returns whether a transcript contains the beginning of a conversation, which shows its origin.
    fn has_begun(&self, _transcript: &Path) -> bool {
        false
    }

    /// Returns whether the transcript has the answer that ended a turn. Some agents write it a little later.
    fn is_written(&self, _stop: &Value, _transcript: &Path) -> bool {
        true
    }

    /// Returns the agent's id of the session that this one is a copy of.
    fn origin(&self, _id: &str, _transcript: &Path) -> Option<String> {
        None
    }

    /// Returns the real path of a transcript that is not at the path in the event.
    fn moved(&self, _transcript: &Path) -> Option<PathBuf> {
        None
    }

    /// Returns whether the agent's plugin sends the records of a session with the events, because there is no file of
    /// lines to read. Each record has a key, and keys grow.
    fn sends_records(&self) -> bool {
        false
    }

    // Compactions.

    /// Returns whether a resumed session has the context that herma added to it before.
    fn keeps_context(&self) -> bool {
        true
    }

    /// Returns how a compaction of this agent uses herma.
    fn compaction(&self) -> Compaction;

    /// Returns the context length of the agent's model in tokens, if known.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Returns the rows that replace the agent's own rows, if a plugin asks for them. `list` is the compressed list.
    /// `with_context` has the keys of rows to which the agent attached herma's context. `kept` returns a text as herma
    /// keeps it: without private parts and secrets.
    ///
    /// # Errors
    /// The reason why the agent has to compact by itself, for the log.
    fn rows(
        &self,
        _list: &[Value],
        _rows: &Value,
        _with_context: &[String],
        _kept: &mut dyn FnMut(&str) -> String,
    ) -> Result<CompactedRows, String> {
        Err("it takes no rows".into())
    }

    /// Returns the key of the row with a prompt, for agents that use rows.
    fn row_key(&self, _prompt: &str) -> Option<String> {
        None
    }

    /// Returns a text that the transcript contains once its newest row is written.
    fn newest_mark(&self, _rows: &Value) -> Option<String> {
        None
    }
}

/// The agent's own report on the installation.
#[derive(Debug)]
pub struct Check {
    /// The report for people.
    pub words: String,
    /// Whether the hooks will run.
    pub is_ok: bool,
}

/// How the user of an agent trusts hooks. The agent skips hooks that are not trusted.
pub trait Trust: Debug {
    /// Asks the agent which hooks it knows.
    ///
    /// # Errors
    /// The agent doesn't answer. The error is for people.
    fn ask(&self) -> Result<(), String>;

    /// Returns the edit that trusts herma's hooks.
    ///
    /// # Errors
    /// The agent doesn't answer, or a file can't be read.
    fn edit(&self, scope: Scope) -> Result<Edit, Failure>;

    /// Returns what the user can do instead.
    fn advice(&self) -> &'static str;
}

/// How a compaction of an agent uses herma.
#[derive(Debug, Clone, Copy)]
pub struct Compaction {
    /// How the agent takes instructions for its own summarizer.
    pub instructions: Instructions,
    /// herma's proxy may answer the summary request.
    pub has_proxy: bool,
    /// Calls may have shorter arguments than before.
    pub takes_short_calls: bool,
    /// What the agent's plugin takes in the place of a conversation.
    pub replacement: Replacement,
}

/// What the plugin of an agent takes in the place of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// What [`Agent::rows`] returns.
    Rows,
    /// The handoff, and a text for each message after it: the agent decides which of the newest messages stay.
    Text,
}

/// How an agent takes instructions for its own summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// It takes none.
    None,
    /// As the text that a hook prints.
    Text,
    /// As the context in a hook's answer.
    Context,
}

/// The rows of a compacted conversation.
#[derive(Debug, PartialEq)]
pub struct CompactedRows {
    /// The answer for the plugin.
    pub answer: Value,
    /// The chars of the rows.
    pub chars: usize,
    /// The chars that the agent's own compaction keeps: the newest call with its results, and the newest message of the
    /// user, which its summary is asked to list.
    pub newest: usize,
    /// The key of the last row, to which the agent attaches the context of the new window.
    pub last: String,
}
