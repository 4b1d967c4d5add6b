//! The prompt, and the instructions that clients may show a model.

use herma_client::ClientError;
use herma_client::protocol::memory::{ListParams, SchemaParams, StoreView};
use herma_client::protocol::session::SnapshotParams;
use rmcp::model::{ErrorData, GetPromptResult, Prompt, PromptMessage, Role};

use super::connection::Connection;
use super::identity::Identity;
use super::tools::offered;

/// The prompt's name.
const NAME: &str = "memory";

/// What it is for.
const DESCRIPTION: &str = "What is remembered of the user and the work, and how to use the memory.";

/// Chars of entries that are short enough for instructions: some clients cut these behind 2,048 (Claude Code 2.1).
const SHORT: usize = 1_300;

/// The prompt, described.
pub(super) fn memory() -> Prompt {
    Prompt::new(NAME, Some(DESCRIPTION), None).with_title("Memory")
}

/// Refuses a prompt that doesn't exist.
///
/// # Errors
/// It is another one.
pub(super) fn check(name: &str) -> Result<(), ErrorData> {
    if name == NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(ErrorData::invalid_params(format!("there is no prompt {shown:?}; there is {NAME:?}"), None))
}

/// The frozen blocks of the session, and below them how to use the memory.
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

/// What a client may put into a model's system prompt. Nothing in it differs from session to session unless the memory
/// does, so that prompt caches hold.
pub(super) fn instructions(known: &Known) -> String {
    let begin = "herma keeps a memory that lasts beyond this conversation.";
    let read = match known {
        Known::InContext => "What is known of the user and the work stands in your context.".to_owned(),
        Known::Entries(user, notes) if user.is_empty() && notes.is_empty() => "It is empty yet.".to_owned(),
        Known::Entries(..) => "What it holds stands at the end of this text.".to_owned(),
        Known::Unknown => {
            "Read what is known of the user and the work with the tool memory_read when you begin.".to_owned()
        }
    };
    let tools = "Save what will still matter in a month with the tool memory, corrections by the user first. \
        Long texts can be put aside with admit_output and read back with output_read and output_search; recall_search \
        finds what was said or seen before.";
    let mut words = format!("{begin} {read} {tools}");
    if let Known::Entries(user, notes) = known {
        for (heading, entries) in [("Of the user:", user), ("Notes:", notes)] {
            if !entries.is_empty() {
                words.push_str(&format!("\n\n{heading}\n{}", listed(entries)));
            }
        }
    }
    words
}

/// What a model knows of the memory when it begins, or is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// The client's hooks tell it.
    InContext,
    /// The entries of the user and the notes, which are short.
    Entries(Vec<String>, Vec<String>),
    /// They are long, or nobody could be asked.
    Unknown,
}

/// Asks for the entries.
///
/// # Errors
/// The daemon's error, or no daemon.
pub(super) fn known(connection: &mut Connection) -> Result<Known, ClientError> {
    let stores = connection.call(ListParams { target: None, raw: None })?;
    let entries = |store: Option<StoreView>| store.map(|store| store.entries).unwrap_or_default();
    let (user, notes) = (entries(stores.user), entries(stores.memory));
    let chars: usize = user.iter().chain(&notes).map(|entry| entry.chars().count() + 3).sum();
    Ok(if chars <= SHORT { Known::Entries(user, notes) } else { Known::Unknown })
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
            instructions(&Known::Entries(owned(user), owned(notes)))
        };
        let full = entries(&["likes tea", "has\na cat"], &["the build is slow"]);
        assert!(
            full.ends_with("\n\nOf the user:\n- likes tea\n- has\n  a cat\n\nNotes:\n- the build is slow"),
            "{full}"
        );
        assert!(full.len() < 2_000 && !full.contains("memory_read"), "{full}");
        assert!(entries(&[], &[]).contains("empty") && !entries(&[], &["x"]).contains("Of the user"));
        assert!(instructions(&Known::Unknown).contains("memory_read"));
        assert!(!instructions(&Known::InContext).contains("memory_read"));
    }
}
