//! The list that is to be compressed.

use std::sync::Arc;

use herma_context::Message;
use herma_context::forms::{self, Read, Translation};

use super::CompressionService;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::KnownTranscript;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

impl CompressionService {
    /// A list in the form that the session's lists have, which is remembered.
    pub(super) fn in_form(session: &Session, read: Read) -> Read {
        let mut record = session.record();
        let read = read.in_known_form(&record.form);
        read.form().clone_into(&mut record.form);
        read
    }

    /// The list that the caller gave, or what was appended to the session so far.
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
        // Messages that were translated aren't those of the transcript.
        let transcript = id.filter(|_| translation.is_none());
        Ok(List { messages, transcript, translation })
    }
}

/// A list as the engine sees it.
pub(super) struct List {
    /// The messages, as JSON texts.
    pub messages: Vec<String>,
    /// The transcript that they are.
    pub transcript: Option<KnownTranscript>,
    /// How what was appended was translated, where it was.
    pub translation: Option<Arc<Translation>>,
}

/// The messages as the engine sees them; that they are JSON was checked when they came.
pub(crate) fn parse(texts: Vec<String>) -> Vec<Message> {
    Message::all_of_json(texts)
}

/// Bytes of a list.
pub(super) fn size(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.raw().len()).sum()
}
