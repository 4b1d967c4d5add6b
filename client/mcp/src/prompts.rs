//! The prompt, and the instructions that MCP clients may show a model.

use herma_client::ClientError;
use herma_client::protocol::memory::{ListParams, SchemaParams, StoreView};
use herma_client::protocol::session::SnapshotParams;
use rmcp::model::{ErrorData, GetPromptResult, Prompt, PromptMessage, Role};

use super::connection::Connection;
use super::identity::Identity;
use super::tools::offered;

/// The prompt's name.
const NAME: &str = "memory";

/// The description of the prompt.
const DESCRIPTION: &str = "What is remembered of the user and the work, and how to use the memory.";

/// The most chars of entries in the instructions. Claude Code 2.1 cuts instructions after 2,048 chars.
const SHORT: usize = 1_300;

/// Returns the prompt with its description.
pub(super) fn memory() -> Prompt {
    Prompt::new(NAME, Some(DESCRIPTION), None).with_title("Memory")
}

/// Checks the name of a prompt.
///
/// # Errors
/// There is no prompt of that name.
pub(super) fn check(name: &str) -> Result<(), ErrorData> {
    if name == NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(ErrorData::invalid_params(format!("there is no prompt {shown:?}; there is {NAME:?}"), None))
}

/// Returns the frozen blocks of the session, followed by how to use the memory.
///
/// # Errors
/// The daemon's error, or no daemon.
pub(super) fn get(connection: &mut Connection, identity: &Identity) -> Result<GetPromptResult, ClientError> {
    let guidance = offered(&connection.call(SchemaParams {})?.guidance);
    let snapshot = connection.call(SnapshotParams { session: identity.session.clone() })?;
    let parts: Vec<String> = [snapshot.memory, snapshot.user, Some(guidance)].into_iter().flatten().collect();
    let message = PromptMessage::new_text(Role::User, parts.join("\n\n"));
    Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
}

/// Returns the text that an MCP client may add to a model's system prompt. It changes only when the memory changes, so
/// prompt caches stay valid from session to session.
pub(super) fn instructions(memory: &MemoryAccess) -> String {
    let read = match memory {
        MemoryAccess::InContext => "What is known of the user and the work is in your context.",
        MemoryAccess::Here { user, notes } if user.is_empty() && notes.is_empty() => "It is empty yet.",
        MemoryAccess::Here { .. } => "Its entries are at the end of this text.",
        MemoryAccess::ByTool => "Read what is known of the user and the work with the tool memory_read when you begin.",
    };
    let mut words = format!(
        "herma keeps a memory that lasts beyond this conversation. {read} Save what will still matter in a month with the \
         tool memory, corrections by the user first. Long texts can be put aside with admit_output and read back with \
         output_read and output_search; recall_search finds what was said or seen before."
    );
    if let MemoryAccess::Here { user, notes } = memory {
        for (heading, entries) in [("Of the user:", user), ("Notes:", notes)] {
            if !entries.is_empty() {
                words.push_str(&format!("\n\n{heading}\n{}", listed(entries)));
            }
        }
    }
    words
}

/// How a model gets the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MemoryAccess {
    /// The hooks of the agent add it to the context.
    InContext,
    /// The instructions contain these entries.
    Here {
        /// The entries of USER.md.
        user: Vec<String>,
        /// The entries of MEMORY.md.
        notes: Vec<String>,
    },
    /// The model calls `memory_read`: the entries are too long, or the daemon did not answer in time.
    ByTool,
}

/// Asks the daemon for the entries, and decides whether they fit into the instructions.
///
/// # Errors
/// The daemon's error, or no daemon.
pub(super) fn memory_access(connection: &mut Connection) -> Result<MemoryAccess, ClientError> {
    let stores = connection.call(ListParams { target: None, raw: None })?;
    let entries = |store: Option<StoreView>| store.map(|store| store.entries).unwrap_or_default();
    let (user, notes) = (entries(stores.user), entries(stores.memory));
    let chars: usize = user.iter().chain(&notes).map(|entry| entry.chars().count() + 3).sum();
    Ok(if chars <= SHORT { MemoryAccess::Here { user, notes } } else { MemoryAccess::ByTool })
}

fn listed(entries: &[String]) -> String {
    entries.iter().map(|entry| format!("- {}", entry.replace('\n', "\n  "))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_say_what_there_is() {
        let entries = |user: &[&str], notes: &[&str]| {
            let owned = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
            instructions(&MemoryAccess::Here { user: owned(user), notes: owned(notes) })
        };
        let full = entries(&["likes tea", "has\na cat"], &["the build is slow"]);
        assert!(
            full.ends_with("\n\nOf the user:\n- likes tea\n- has\n  a cat\n\nNotes:\n- the build is slow"),
            "{full}"
        );
        assert!(full.len() < 2_000 && !full.contains("memory_read"), "{full}");
        assert!(entries(&[], &[]).contains("empty") && !entries(&[], &["x"]).contains("Of the user"));
        assert!(instructions(&MemoryAccess::ByTool).contains("memory_read"));
        assert!(!instructions(&MemoryAccess::InContext).contains("memory_read"));
    }
}
