//! The list to compress.

use std::sync::Arc;

use herma_context::Message;
use herma_context::forms::{self, Read, Translation};

use super::CompressionService;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::KnownTranscript;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

impl CompressionService {
    /// Returns a list in the form of the session's earlier lists, and remembers its form.
    pub(super) fn in_form(session: &Session, read: Read) -> Read {
        let mut record = session.record();
        let read = read.in_known_form(&record.form);
        read.form().clone_into(&mut record.form);
        read
    }

    /// Returns the caller's list, or the session's transcript.
    pub(super) async fn list(&self, session: &Session, given: Option<Vec<String>>) -> Outcome<List> {
        if let Some(messages) = given {
            return Ok(List { messages, transcript: None, translation: None });
        }
        let (id, texts) = self.archive.transcript(session.id.clone()).await?.unzip();
        let texts = texts.unwrap_or_default();
        if texts.is_empty() {
            let words = "the list is needed, for nothing was appended to this session with session.append";
            return Err(Error::param("messages", words));
        }
        let Read { messages, translation } = blocking("context.compress", move || Ok(forms::read_kept(texts))).await?;
        // Translated messages differ from those of the transcript.
        let transcript = id.filter(|_| translation.is_none());
        Ok(List { messages, transcript, translation })
    }
}

/// A list in the form for the engine.
pub(super) struct List {
    /// The messages, as JSON texts.
    pub messages: Vec<String>,
    /// The transcript to which the messages are equal, if there is one.
    pub transcript: Option<KnownTranscript>,
    /// The translation of the transcript, if it needed one.
    pub translation: Option<Arc<Translation>>,
}

/// Parses messages for the engine. They were checked to be JSON when they arrived.
pub(crate) fn parse(texts: Vec<String>) -> Vec<Message> {
    Message::all_of_json(texts)
}

/// Returns the size of a list, in bytes.
pub(super) fn size(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.raw().len()).sum()
}
