//! The list of messages that a caller gives, in any known form.

use herma_context::forms::{self, ItemError, Read};
use herma_protocol::Json;

use super::texts;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;

/// Reads a list for the engine. Fails if an item is not a message.
pub(super) async fn read(messages: Vec<Json>) -> Outcome<Read> {
    blocking("context.compress", move || of(texts(messages))).await
}

/// Reads a list that may be absent.
pub(super) async fn read_some(messages: Option<Vec<Json>>) -> Outcome<Option<Read>> {
    match messages {
        Some(messages) => read(messages).await.map(Some),
        None => Ok(None),
    }
}

/// Reads a single message, which may become several in chat completions.
pub(super) fn read_message(message: Json) -> Outcome<Vec<String>> {
    let refused = |ItemError { why, .. }| Error::param("message", format!("it is none: {why}; {}", forms::KNOWN));
    forms::read(vec![Json::into_text(message)]).map(|read| read.messages).map_err(refused)
}

fn of(texts: Vec<String>) -> Outcome<Read> {
    forms::read(texts).map_err(|refused| Error::param("messages", refused))
}
