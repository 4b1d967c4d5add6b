//! The size of the text that herma's MCP server adds to an agent's prompt. The server saves it for its agent's process,
//! and the hooks of that process report it.

use std::path::Path;

use herma_base::host::ToolSize;
use serde::{Deserialize, Serialize};

use super::ledger::tokens;
use super::process::{self, Kind};
use crate::agent::Agent;

/// The size of the definitions.
#[derive(Debug, Serialize, Deserialize)]
struct Definitions {
    tokens: u64,
}

/// Saves the size of the server's instructions and tools for an agent's process.
pub(crate) fn note(home: &Path, agent: &dyn Agent, process: u32, instructions: &str, tools: &[ToolSize]) {
    let tools = tools.iter().map(|tool| agent.definition_chars(tool));
    let tokens = tokens(instructions.chars().count() + tools.sum::<usize>());
    process::write(home, agent, process, Kind::Server, Definitions { tokens });
}

/// Returns the tokens that the server of an agent's process adds.
pub(super) fn of(home: &Path, agent: &dyn Agent, process: u32) -> Option<u64> {
    process::read(home, agent, process, Kind::Server).map(|Definitions { tokens }| tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_code::ClaudeCode;
    use crate::codex::Codex;

    #[test]
    fn each_client_has_the_definitions_that_it_sends() {
        let home = tempfile::tempdir().unwrap();
        let tools = [ToolSize { name: 7, whole: 1_000 }, ToolSize { name: 7, whole: 3_000 }];
        for (agent, tokens) in [(&ClaudeCode as &dyn Agent, 15), (&Codex, 1_005)] {
            assert_eq!(of(home.path(), agent, 7), None);
            note(home.path(), agent, 7, &"x".repeat(20), &tools);
            assert_eq!(of(home.path(), agent, 7), Some(tokens));
        }
    }
}
