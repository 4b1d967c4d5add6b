//! Answers what the MCP server asks about the agent that started it.

use std::os::unix::process::parent_id;
use std::path::PathBuf;

use herma_base::host::{Hosts, ToolSize};

use crate::hook::{self, Client};

/// The agents of a home.
#[derive(Debug)]
pub struct KnownHosts {
    /// The home.
    pub home: PathBuf,
}

impl Hosts for KnownHosts {
    fn has_hooks(&self, client: &str) -> bool {
        Client::named_by_mcp(client).is_some()
    }

    fn is_hooked(&self, client: &str) -> bool {
        Client::named_by_mcp(client).is_some_and(|client| hook::is_in_use(&self.home, client))
    }

    fn session(&self, client: &str, thread: Option<&str>) -> Option<String> {
        let client = Client::named_by_mcp(client)?;
        match thread {
            Some(thread) => hook::of_id(&self.home, client, thread),
            None => hook::of_process(&self.home, client, parent_id()),
        }
    }

    fn note_definitions(&self, client: &str, instructions: &str, tools: &[ToolSize]) {
        if let Some(client) = Client::named_by_mcp(client) {
            hook::note_definitions(&self.home, client, parent_id(), instructions, tools);
        }
    }
}
