//! Transcripts: what was appended to sessions.

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
    /// What was appended to a session so far, as JSON texts.
    pub(crate) async fn transcript(&self, session: String) -> Outcome<Option<(KnownTranscript, Vec<String>)>> {
        // A list without its newest messages would be taken for the whole.
        self.take_over().await?;
        // Taken before: where another file comes into use meanwhile, the transcript counts as unknown.
        let epoch = self.shared.epoch();
        let found = self.read(move |reader| reader.identified_transcript(&session)).await?;
        Ok(found.map(|(id, texts)| (KnownTranscript { epoch, id }, texts)))
    }

    /// Bytes of a session's transcript.
    pub(crate) async fn transcript_bytes(&self, session: String) -> Outcome<u64> {
        self.take_over().await?;
        self.read(move |reader| reader.transcript_bytes(&session)).await
    }

    /// What a known transcript has from a position on; `None` if it is another one by now.
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

    /// Appends JSON texts to a session. `no_session` is run when it was removed meanwhile.
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
                // One with much to do will look anyway.
                drop(self.send(Job::Appended));
            }
            return Ok(appended);
        }
        self.send(Job::Append(append))?;
        answered.await.unwrap_or_else(|_| Err(Error::internal("the archive")))
    }
}

/// Which transcript a list was read from, and from which file: in another one the same numbers
/// stand for something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownTranscript {
    pub(super) epoch: u64,
    pub(super) id: TranscriptId,
}

/// Bytes of a message that counts for more than one.
const LARGE: usize = 2 << 10;

/// Messages for one session's transcript. Those that wait at one time are synced together.
pub(super) struct Append {
    pub(super) session: String,
    pub(super) generation: u64,
    pub(super) position: u64,
    pub(super) messages: Vec<String>,
    /// When it was asked for.
    pub(super) asked: Instant,
    /// Run when the session was removed meanwhile.
    pub(super) no_session: Box<dyn FnOnce() + Send>,
    pub(super) answer: oneshot::Sender<Outcome<Appended>>,
}

impl Append {
    /// What it is for the text index to do: its messages, or as many of [`LARGE`] as have its bytes.
    pub(super) fn weight(&self) -> usize {
        self.messages.len().max(self.bytes() / LARGE)
    }

    pub(super) fn bytes(&self) -> usize {
        self.messages.iter().map(String::len).sum()
    }

    /// Does all of them, and syncs once.
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

    /// None of them can be kept.
    pub(super) fn refused(appends: Vec<Self>, error: ArchiveError) -> Finished {
        let error = Arc::new(error);
        let answers = vec![Err(Arc::clone(&error)); appends.len()];
        Finished { failure: Err(error), answer: Some(Self::answer_all(appends, answers)) }
    }

    /// Tells each what came of it, once it is known whether that is kept.
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
        // Nobody listens any more when the caller went away.
        drop(self.answer.send(kept.clone().and(answer.map_err(Error::from))));
    }
}
