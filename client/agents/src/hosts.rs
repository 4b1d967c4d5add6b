//! Answers the MCP server's questions about the agent that started it.

use std::os::unix::process::parent_id;
use std::path::PathBuf;

use herma_base::host::{Hosts, ToolSize};
use herma_base::{CliContext, Failure};

use crate::agent::Agent;
use crate::hook;
use crate::known::by_mcp_name;
use crate::settings::wanted::{HermaEntries, Scope, folder};

/// The variable that Claude Code sets for the programs of a plugin.
const PLUGIN: &str = "CLAUDE_PLUGIN_ROOT";

/// The agents of a home.
#[derive(Debug)]
pub struct AgentHosts {
    home: PathBuf,
    /// What the settings of an agent contain if this program's hooks are in them; `None` if its path is unknown.
    entries: Option<HermaEntries>,
}

impl AgentHosts {
    /// Creates the agents of the context's home.
    pub fn of(context: &CliContext<'_>) -> Self {
        Self { home: context.place.home.clone(), entries: HermaEntries::of(context, false).ok() }
    }

    /// Returns whether the settings of an agent contain this program's hooks.
    fn is_installed(&self, agent: &dyn Agent, scope: Scope) -> Result<bool, Failure> {
        let Some(mut entries) = self.entries.clone() else { return Ok(false) };
        entries.has_plugin = agent.has_plugin(scope)?;
        Ok(agent.edits(scope, Some(&entries))?.iter().all(|edit| edit.is_done()))
    }
}

impl Hosts for AgentHosts {
    fn has_hooks(&self, client: &str) -> bool {
        by_mcp_name(client).is_some()
    }

    fn is_hooked(&self, client: &str) -> bool {
        by_mcp_name(client).is_some_and(|agent| hook::is_in_use(&self.home, agent))
    }

    fn will_be_hooked(&self, client: &str) -> bool {
        let Some(agent) = by_mcp_name(client) else { return false };
        let is_installed = |scope| self.is_installed(agent, scope).unwrap_or(false);
        folder(PLUGIN).is_some() || is_installed(Scope::User) || is_installed(Scope::Project)
    }

    fn session(&self, client: &str, thread: Option<&str>) -> Option<String> {
        let agent = by_mcp_name(client)?;
        match thread {
            Some(thread) => hook::of_id(&self.home, agent, thread),
            None => hook::of_process(&self.home, agent, parent_id()),
        }
    }

    fn note_definitions(&self, client: &str, instructions: &str, tools: &[ToolSize]) {
        if let Some(agent) = by_mcp_name(client) {
            hook::note_definitions(&self.home, agent, parent_id(), instructions, tools);
        }
    }
}
