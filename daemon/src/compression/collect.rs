//! The first phase: the list.

use herma_context::Message;
use herma_protocol::Json;

use crate::fail::{self, Outcome};
use crate::session::Session;
use crate::state::State;

/// The list that the caller gave, or what was appended to the session so far.
pub(crate) async fn texts(state: &State, session: &Session, given: Option<Vec<Json>>) -> Outcome<Vec<String>> {
    if let Some(messages) = given {
        return Ok(messages.into_iter().map(Json::into_text).collect());
    }
    let texts = transcript(state, session).await?;
    if texts.is_empty() {
        let words = "the list is needed, for nothing was appended to this session with session.append";
        return Err(fail::invalid("messages", words));
    }
    Ok(texts)
}

/// What was appended to the session so far.
pub(crate) async fn transcript(state: &State, session: &Session) -> Outcome<Vec<String>> {
    let id = session.id.clone();
    state.archive.read(move |reader| reader.transcript(&id)).await
}

/// Reads messages; `from` is the position of the first one.
pub(crate) fn parse(texts: impl IntoIterator<Item = String>, from: usize) -> Outcome<Vec<Message>> {
    let parsed = texts.into_iter().zip(from..).map(|(text, at)| {
        Message::parse(text)
            .map_err(|error| fail::invalid("messages", format!("message {at} can't be read: {}", with_cause(&error))))
    });
    parsed.collect()
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
