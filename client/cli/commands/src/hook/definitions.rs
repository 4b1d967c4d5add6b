//! The size of what herma's MCP server adds to a client's prompt. The server notes it for its client's process, and the
//! hooks of that process report it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::event::Client;
use super::file::{self, make, replace};
use super::ledger::tokens;
use super::state::{began, folder};

/// Bytes of a note that is read.
const LARGEST: u64 = 1 << 10;

/// The prefix of the tools' names in the client's prompt.
const PREFIX: usize = "mcp__herma__\n".len();

/// A note.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    tokens: u64,
    /// When the client's process began, because another process may get its number.
    began: Option<u64>,
}

/// A tool of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defined {
    /// Chars of its name.
    pub(crate) name: usize,
    /// Chars of its whole definition.
    pub(crate) whole: usize,
}

/// Notes the size of the server's instructions and tools for a client's process.
pub(crate) fn note(home: &Path, client: Client, process: u32, instructions: &str, tools: &[Defined]) {
    let tools = tools.iter().map(|tool| match client {
        // It loads the definitions when the model looks for a tool.
        Client::ClaudeCode => tool.name + PREFIX,
        Client::Codex => tool.whole,
    });
    let tokens = tokens(instructions.chars().count() + tools.sum::<usize>());
    let path = path(home, client, process);
    let Ok(text) = serde_json::to_vec(&Note { tokens, began: began(process) }) else { return };
    // Without it the ledger has no definitions.
    drop(make(path.parent().unwrap_or(home)).and_then(|()| replace(&path, &text)));
}

/// Returns the tokens that the server of a client's process adds.
pub(super) fn of(home: &Path, client: Client, process: u32) -> Option<u64> {
    let note: Note = serde_json::from_slice(&file::read(&path(home, client, process), LARGEST).ok()?).ok()?;
    let is_same = note.began.zip(began(process)).is_none_or(|(noted, now)| noted == now);
    is_same.then_some(note.tokens)
}

fn path(home: &Path, client: Client, process: u32) -> PathBuf {
    folder(home, client).join("processes").join(format!("{process}.server.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_definitions_of_its_own_server() {
        let home = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let tools = [Defined { name: 7, whole: 1_000 }, Defined { name: 7, whole: 3_000 }];
        for (client, tokens) in [(Client::ClaudeCode, 15), (Client::Codex, 1_005)] {
            assert_eq!(of(home.path(), client, own), None);
            note(home.path(), client, own, &"x".repeat(20), &tools);
            assert_eq!(of(home.path(), client, own), Some(tokens));
            let text = serde_json::to_vec(&Note { tokens, began: Some(1) }).unwrap();
            replace(&path(home.path(), client, own), &text).unwrap();
            assert_eq!(of(home.path(), client, own), None, "another process had the number");
        }
    }
}
