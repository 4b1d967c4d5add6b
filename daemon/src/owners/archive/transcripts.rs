//! Transcripts: what was appended to sessions.

use herma_archive::ArchiveError;
use herma_archive::transcript::{Appended, TranscriptId};

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// What was appended to a session so far, as JSON texts.
    pub(crate) async fn transcript(&self, session: String) -> Outcome<Option<(TranscriptId, Vec<String>)>> {
        self.read(move |reader| reader.identified_transcript(&session)).await
    }

    /// Appends JSON texts to a session. `no_session` is run when it was removed meanwhile.
    pub(crate) async fn append(
        &self,
        session: String,
        generation: u64,
        position: u64,
        messages: Vec<String>,
        no_session: impl FnOnce() + Send + 'static,
    ) -> Outcome<Appended> {
        self.write(move |archive| {
            let bodies: Vec<&str> = messages.iter().map(String::as_str).collect();
            let appended = archive.append(&session, generation, position, &bodies, unix_now());
            if let Err(ArchiveError::NoSession { .. }) = &appended {
                no_session();
            }
            appended
        })
        .await
    }
}
