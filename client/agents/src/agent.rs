//! What herma must know of an agent. Each agent has a folder with one `impl Agent`; [`crate::known`] lists them.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::host::ToolSize;
use herma_transcripts::Transcript;
use serde_json::Value;

use crate::event::EventName;
use crate::settings::edit::Edit;
use crate::settings::wanted::{Scope, Wanted};

/// A program that people work with, and that calls herma's hooks at the events of its sessions.
pub trait Agent: Debug + Send + Sync {
    /// Its name in commands, and before the ids of its sessions.
    fn name(&self) -> &'static str;

    /// Its name for people.
    fn title(&self) -> &'static str;

    /// Its name in the client info of the Model Context Protocol.
    fn mcp_name(&self) -> &'static str;

    /// The provider of its model and the form of the requests, as the ledger names them.
    fn provider(&self) -> (&'static str, &'static str);

    // Settings.

    /// The events that its settings name, with the time that it waits for an answer, in seconds. herma itself gives up
    /// before.
    fn events(&self) -> &'static [(EventName, u32)];

    /// The events that its plugin reports.
    fn plugin_events(&self) -> &'static [EventName] {
        &[]
    }

    /// Returns the edits of its files that put herma in, or with `None` take it out.
    ///
    /// # Errors
    /// A file that can't be read or understood.
    fn edits(&self, scope: Scope, wanted: Option<&Wanted>) -> Result<Vec<Edit>, Failure>;

    /// Returns the programs of herma that the user's own settings start. Settings that can't be read have none.
    fn programs(&self) -> Vec<String>;

    /// Returns whether a plugin of herma is installed next to the hooks.
    ///
    /// # Errors
    /// The folder of the settings is not known.
    fn has_plugin(&self, _scope: Scope) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Returns the settings that switch all hooks off.
    fn switched_off_by(&self, _scope: Scope) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Asks the agent itself whether it accepts what is installed.
    ///
    /// # Errors
    /// The folder of the settings is not known.
    fn check(&self, scope: Scope, has_plugin: bool) -> Result<Check, Failure>;

    /// Returns how its user trusts hooks; `None` if it calls hooks without being asked.
    fn trust(&self) -> Option<&dyn Trust> {
        None
    }

    // Events.

    /// Returns the id and the transcript of the subagent that an event is about.
    fn subagent(&self, _event: &Value) -> Option<(String, PathBuf)> {
        None
    }

    /// Returns the answer that puts `text` in the place of a tool's output. `response` is the tool's own form with that
    /// text in it.
    fn replaced_output(&self, response: Value, text: String) -> Value;

    /// Returns the sentence that says how to read a spilled output. `own` names the tool of herma's MCP server.
    fn reading_advice(&self, own: &str) -> String;

    /// Returns the chars that the definition of an MCP tool takes in its prompt.
    fn definition_chars(&self, tool: &ToolSize) -> usize;

    // Transcripts.

    /// Returns a reader for the transcript of a session.
    fn reader(&self, id: &str) -> Box<dyn Transcript>;

    /// Returns whether a transcript has the beginning of a conversation, which says where it came from.
    fn has_begun(&self, transcript: &Path) -> bool;

    /// Returns its id of the session that this one is a copy of.
    fn origin(&self, id: &str, transcript: &Path) -> Option<String>;

    /// Returns where a transcript is that is not at the path of the event.
    fn moved(&self, _transcript: &Path) -> Option<PathBuf> {
        None
    }

    // Compactions.

    /// Returns what a compaction takes from herma.
    fn compaction(&self) -> Compaction;

    /// Returns the context length of its model in tokens, if it is known.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Returns the rows that take the place of its own, if a plugin asks for them. `list` is the compressed list, and
    /// `with_context` has the keys of rows to which it attached herma's context.
    ///
    /// # Errors
    /// Why it has to compact by itself, in words for the log.
    fn rows(&self, _list: &[Value], _rows: &Value, _with_context: &[String]) -> Result<CompactedRows, String> {
        Err("it takes no rows".into())
    }

    /// Returns the key of the row with a prompt, for agents that take rows.
    fn row_key(&self, _prompt: &str) -> Option<String> {
        None
    }

    /// Returns a text that the transcript has once its newest row is written.
    fn newest_mark(&self, _rows: &Value) -> Option<String> {
        None
    }
}

/// What an agent says about what is installed.
#[derive(Debug)]
pub struct Check {
    /// In words for people.
    pub words: String,
    /// Whether the hooks will run.
    pub is_ok: bool,
}

/// How the user of an agent trusts hooks: the agent skips those that nobody trusts.
pub trait Trust: Debug {
    /// Asks the agent which hooks it knows.
    ///
    /// # Errors
    /// It doesn't answer, in words for people.
    fn ask(&self) -> Result<(), String>;

    /// Returns the edit that trusts herma's hooks.
    ///
    /// # Errors
    /// The agent doesn't answer, or a file can't be read.
    fn edit(&self, scope: Scope) -> Result<Edit, Failure>;

    /// Says what the user can do instead.
    fn advice(&self) -> &'static str;
}

/// What a compaction of an agent takes from herma.
#[derive(Debug, Clone, Copy)]
pub struct Compaction {
    /// Instructions for its own summary.
    pub has_instructions: bool,
    /// A summary, if herma's proxy is between the agent and its model.
    pub has_proxy: bool,
    /// Calls with shorter arguments than they had.
    pub takes_short_calls: bool,
}

/// The rows of a compacted conversation.
#[derive(Debug, PartialEq)]
pub struct CompactedRows {
    /// The rows as the plugin returns them.
    pub rows: Value,
    /// Chars of them.
    pub chars: usize,
    /// Chars of what the agent's own compaction keeps: the newest call with its results, and the newest message of the
    /// user, which its summary is asked to list.
    pub newest: usize,
    /// The key of the last row, to which the agent attaches the context of the new window.
    pub last: String,
}
