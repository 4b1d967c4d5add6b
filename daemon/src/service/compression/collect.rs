//! The first phase: the list.

use herma_context::Message;
use herma_protocol::Json;

use crate::data::error::{Error, Outcome};
use crate::service::session::Session;
use crate::wire::state::State;

/// The list that the caller gave, or what was appended to the session so far.
pub(crate) async fn texts(state: &State, session: &Session, given: Option<Vec<Json>>) -> Outcome<Vec<String>> {
    if let Some(messages) = given {
        return Ok(messages.into_iter().map(Json::into_text).collect());
    }
    let texts = transcript(state, session).await?;
    if texts.is_empty() {
        let words = "the list is needed, for nothing was appended to this session with session.append";
        return Err(Error::param("messages", words));
    }
    Ok(texts)
}

/// What was appended to the session so far.
pub(crate) async fn transcript(state: &State, session: &Session) -> Outcome<Vec<String>> {
    let id = session.id.clone();
    state.archive.read(move |reader| reader.transcript(&id)).await
}

/// The messages as the engine sees them; that they are JSON was checked when they came.
pub(crate) fn parse(texts: Vec<String>) -> Vec<Message> {
    Message::all_of_json(texts)
}
