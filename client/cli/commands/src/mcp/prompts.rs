//! The prompt, and the instructions that clients may show a model.

use herma_client::ClientError;
use herma_client::protocol::memory::SchemaParams;
use herma_client::protocol::session::SnapshotParams;
use rmcp::model::{ErrorData, GetPromptResult, Prompt, PromptMessage, Role};

use super::connection::Connection;
use super::identity::Identity;
use super::tools::offered;

/// The prompt's name.
const NAME: &str = "memory";

/// What it is for.
const DESCRIPTION: &str = "What is remembered of the user and the work, and how to use the memory.";

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

/// What a client may put into a model's system prompt.
pub(super) fn instructions(session: Option<&str>) -> String {
    let mut words = "herma keeps a memory that lasts beyond this conversation. The resource \
        herma://session/snapshot and the prompt memory hold what is known of the user and the work: read one of them \
        when you begin. Save what will still matter in a month with the tool memory, corrections by the user first. \
        Long texts can be put aside with admit_output and read back with output_read and output_search; recall_search \
        finds what was said or seen before."
        .to_owned();
    if let Some(session) = session {
        words.push_str(&format!(" The id of this session is {session}."));
    }
    words
}
