//! Transcripts: the messages that were appended to sessions.

use std::sync::Arc;
use std::time::Instant;

use herma_archive::import::{Import, Imported};
use herma_archive::session::SessionRow;
use herma_archive::transcript::{self, Appended, TranscriptId};
use herma_archive::{Archive, ArchiveError};
use tokio::sync::oneshot;

use super::{ArchiveHandle, Finished, Job};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};

impl ArchiveHandle {
    /// Returns the messages of a session's transcript, as JSON texts.
    pub(crate) async fn transcript(&self, session: String) -> Outcome<Option<(KnownTranscript, Vec<String>)>> {
        // Without its newest messages, the list would be taken for the whole transcript.
        self.take_over().await?;
        // The epoch is read first: if another file comes into use meanwhile, the transcript counts as unknown.
        let epoch = self.shared.epoch();
        let found = self.read(move |reader| reader.identified_transcript(&session)).await?;
        Ok(found.map(|(id, texts)| (KnownTranscript { epoch, id }, texts)))
    }

    /// Returns the size of a session's transcript, in bytes.
    pub(crate) async fn transcript_bytes(&self, session: String) -> Outcome<u64> {
        self.take_over().await?;
        self.read(move |reader| reader.transcript_bytes(&session)).await
    }

    /// Returns the messages of a known transcript from a position on; `None` if the transcript has changed.
    pub(crate) async fn transcript_from(
        &self,
        session: String,
        known: KnownTranscript,
        position: u64,
    ) -> Outcome<Option<Vec<String>>> {
        self.take_over().await?;
        let found = self.read(move |reader| reader.transcript_from(&session, known.id, position)).await?;
        Ok(found.filter(|_| self.shared.epoch() == known.epoch))
    }

    /// Adds messages, each with its time, to an imported session.
    pub(crate) async fn import(
        &self,
        session: SessionRow,
        position: u64,
        messages: Vec<(f64, String)>,
    ) -> Outcome<Imported> {
        self.write(move |archive| {
            let messages: Vec<(f64, &str)> = messages.iter().map(|(time, text)| (*time, text.as_str())).collect();
            archive.import(&Import { session: &session, position, messages: &messages })
        })
        .await
    }

    /// Appends JSON texts to a session. Calls `no_session` if the session was removed meanwhile.
    pub(crate) async fn append(
        &self,
        session: String,
        generation: u64,
        position: u64,
        messages: Vec<String>,
        no_session: impl FnOnce() + Send + 'static,
    ) -> Outcome<Appended> {
        let (answer, answered) = oneshot::channel();
        let no_session = Box::new(no_session);
        let asked = Instant::now();
        let append = Append { session, generation, position, messages, asked, no_session, answer };
        if self.is_in_use()
            && let Some((appended, must_tell)) = self.shared.append_in_place(&append)
        {
            if must_tell {
                // If the queue is full, the thread is busy and will look anyway.
                drop(self.send(Job::Appended));
            }
            return Ok(appended);
        }
        self.send(Job::Append(append))?;
        answered.await.unwrap_or_else(|_| Err(Error::internal("the archive")))
    }
}

/// Identifies the transcript from which a list was read, and its file. In another file the same numbers mean something
/// else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownTranscript {
    pub(super) epoch: u64,
    pub(super) id: TranscriptId,
}

/// The size from which a message counts as more than one, in bytes.
const LARGE: usize = 2 << 10;

/// Messages for one session's transcript. Appends that wait at the same time are synced together.
pub(super) struct Append {
    pub(super) session: String,
    pub(super) generation: u64,
    pub(super) position: u64,
    pub(super) messages: Vec<String>,
    /// The time of the request.
    pub(super) asked: Instant,
    /// Called if the session was removed meanwhile.
    pub(super) no_session: Box<dyn FnOnce() + Send>,
    pub(super) answer: oneshot::Sender<Outcome<Appended>>,
}

impl Append {
    /// Returns the cost for the text index: the number of messages, or the number of [`LARGE`] units of their bytes.
    pub(super) fn weight(&self) -> usize {
        self.messages.len().max(self.bytes() / LARGE)
    }

    pub(super) fn bytes(&self) -> usize {
        self.messages.iter().map(String::len).sum()
    }

    /// Writes all appends, and syncs once.
    pub(super) fn all(appends: Vec<Self>, archive: &mut Archive) -> Finished {
        let bodies: Vec<Vec<&str>> =
            appends.iter().map(|append| append.messages.iter().map(String::as_str).collect()).collect();
        let now = unix_now();
        let parts: Vec<transcript::Append<'_>> =
            appends.iter().zip(&bodies).map(|(append, bodies)| append.part(bodies, now)).collect();
        let (answers, failure) = match archive.append_all(&parts) {
            Ok(answers) => (answers.into_iter().map(|answer| answer.map_err(Arc::new)).collect(), Ok(())),
            Err(error) => {
                let error = Arc::new(error);
                (vec![Err(Arc::clone(&error)); appends.len()], Err(error))
            }
        };
        Finished { failure, answer: Some(Self::answer_all(appends, answers)) }
    }

    /// Refuses all appends with the same error.
    pub(super) fn refused(appends: Vec<Self>, error: ArchiveError) -> Finished {
        let error = Arc::new(error);
        let answers = vec![Err(Arc::clone(&error)); appends.len()];
        Finished { failure: Err(error), answer: Some(Self::answer_all(appends, answers)) }
    }

    /// Answers each caller, once it is known whether the data is in the file.
    pub(super) fn answer_all(
        appends: Vec<Self>,
        answers: Vec<Result<Appended, Arc<ArchiveError>>>,
    ) -> Box<dyn FnOnce(Outcome<()>)> {
        Box::new(move |kept: Outcome<()>| {
            for (append, answer) in appends.into_iter().zip(answers) {
                append.answer(&kept, answer);
            }
        })
    }

    fn part<'a>(&'a self, messages: &'a [&'a str], time: f64) -> transcript::Append<'a> {
        let Self { session, generation, position, .. } = self;
        transcript::Append { session, generation: *generation, position: *position, time, messages }
    }

    fn answer(self, kept: &Outcome<()>, answer: Result<Appended, Arc<ArchiveError>>) {
        if let Err(error) = &answer
            && matches!(**error, ArchiveError::NoSession { .. })
        {
            (self.no_session)();
        }
        // The send fails if the caller has gone away.
        drop(self.answer.send(kept.clone().and(answer.map_err(Error::from))));
    }
}
