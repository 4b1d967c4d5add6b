//! The edits of a client's files.

use herma_base::Failure;

use super::edit::Edit;
use super::wanted::{Wanted, Whose};
use super::{claude_code, codex};
use crate::hook::Client;

/// The edits that put herma into a client's settings, or with `None` take it out.
pub(super) fn edits(whose: &Whose, wanted: Option<&Wanted>) -> Result<Vec<Edit>, Failure> {
    match whose.client {
        Client::ClaudeCode => claude_code::edits(whose, wanted),
        Client::Codex => codex::edits(whose, wanted),
    }
}
