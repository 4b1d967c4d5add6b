//! Answers the MCP server's questions about the agent that started it.

use std::os::unix::process::parent_id;
use std::path::PathBuf;

use herma_base::host::{Hosts, ToolSize};

use crate::hook;
use crate::known::by_mcp_name;

/// The agents of a home.
#[derive(Debug)]
pub struct AgentHosts {
    /// The home.
    pub home: PathBuf,
}

impl Hosts for AgentHosts {
    fn has_hooks(&self, client: &str) -> bool {
        by_mcp_name(client).is_some()
    }

    fn is_hooked(&self, client: &str) -> bool {
        by_mcp_name(client).is_some_and(|agent| hook::is_in_use(&self.home, agent))
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
