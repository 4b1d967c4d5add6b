//! The list that is to be compressed.

use herma_context::Message;

use super::CompressionService;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::KnownTranscript;
use crate::service::session::Session;

impl CompressionService {
    /// The list that the caller gave, or what was appended to the session so far, as JSON texts; and
    /// which transcript that is.
    pub(super) async fn list(
        &self,
        session: &Session,
        given: Option<Vec<String>>,
    ) -> Outcome<(Vec<String>, Option<KnownTranscript>)> {
        if let Some(messages) = given {
            return Ok((messages, None));
        }
        let (id, texts) = self.archive.transcript(session.id.clone()).await?.unzip();
        let texts = texts.unwrap_or_default();
        if texts.is_empty() {
            let words = "the list is needed, for nothing was appended to this session with session.append";
            return Err(Error::param("messages", words));
        }
        Ok((texts, id))
    }
}

/// The messages as the engine sees them; that they are JSON was checked when they came.
pub(crate) fn parse(texts: Vec<String>) -> Vec<Message> {
    Message::all_of_json(texts)
}

/// Bytes of a list.
pub(super) fn size(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.raw().len()).sum()
}
