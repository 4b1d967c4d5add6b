//! The size of what herma's MCP server adds to a client's prompt. The server notes it for its client's process, and the
//! hooks of that process report it.

use std::path::Path;

use herma_base::host::ToolSize;
use serde::{Deserialize, Serialize};

use super::event::Client;
use super::ledger::tokens;
use super::process::{self, Kind};

/// The prefix of the tools' names in the client's prompt.
const PREFIX: usize = "mcp__herma__\n".len();

/// The size of the definitions.
#[derive(Debug, Serialize, Deserialize)]
struct Definitions {
    tokens: u64,
}

/// Notes the size of the server's instructions and tools for a client's process.
pub(crate) fn note(home: &Path, client: Client, process: u32, instructions: &str, tools: &[ToolSize]) {
    let tools = tools.iter().map(|tool| match client {
        // It loads the definitions when the model looks for a tool.
        Client::ClaudeCode => tool.name + PREFIX,
        Client::Codex => tool.whole,
    });
    let tokens = tokens(instructions.chars().count() + tools.sum::<usize>());
    process::write(home, client, process, Kind::Server, Definitions { tokens });
}

/// Returns the tokens that the server of a client's process adds.
pub(super) fn of(home: &Path, client: Client, process: u32) -> Option<u64> {
    process::read(home, client, process, Kind::Server).map(|Definitions { tokens }| tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_the_definitions_that_it_sends() {
        let home = tempfile::tempdir().unwrap();
        let tools = [ToolSize { name: 7, whole: 1_000 }, ToolSize { name: 7, whole: 3_000 }];
        for (client, tokens) in [(Client::ClaudeCode, 15), (Client::Codex, 1_005)] {
            assert_eq!(of(home.path(), client, 7), None);
            note(home.path(), client, 7, &"x".repeat(20), &tools);
            assert_eq!(of(home.path(), client, 7), Some(tokens));
        }
    }
}
