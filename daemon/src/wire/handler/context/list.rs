//! The list of messages that a caller gives, in whatever form it is.

use herma_context::forms::{self, NoMessage, Read};
use herma_protocol::Json;

use super::texts;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;

/// A list as the engine reads it; refused where an item is no message.
pub(super) async fn read(messages: Vec<Json>) -> Outcome<Read> {
    blocking("context.compress", move || of(texts(messages))).await
}

/// The same of a list that may be absent.
pub(super) async fn read_some(messages: Option<Vec<Json>>) -> Outcome<Option<Read>> {
    match messages {
        Some(messages) => read(messages).await.map(Some),
        None => Ok(None),
    }
}

/// A single message, which may have more than one in chat completions.
pub(super) fn read_message(message: Json) -> Outcome<Vec<String>> {
    let refused = |NoMessage { why, .. }| Error::param("message", format!("it is none: {why}; {}", forms::KNOWN));
    forms::read(vec![Json::into_text(message)]).map(|read| read.messages).map_err(refused)
}

fn of(texts: Vec<String>) -> Outcome<Read> {
    forms::read(texts).map_err(|refused| Error::param("messages", refused))
}
