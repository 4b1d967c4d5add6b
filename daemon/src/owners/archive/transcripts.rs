//! Transcripts: what was appended to sessions.

use std::sync::Arc;

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
        // Taken before: where another file comes into use meanwhile, the transcript counts as unknown.
        let epoch = self.shared.epoch();
        let found = self.read(move |reader| reader.identified_transcript(&session)).await?;
        Ok(found.map(|(id, texts)| (KnownTranscript { epoch, id }, texts)))
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
        self.send(Job::Append(Append { session, generation, position, messages, no_session, answer }))?;
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

/// Messages for one session's transcript. Those that wait at one time are synced together.
pub(super) struct Append {
    session: String,
    generation: u64,
    position: u64,
    messages: Vec<String>,
    no_session: Box<dyn FnOnce() + Send>,
    answer: oneshot::Sender<Outcome<Appended>>,
}

impl Append {
    pub(super) fn messages(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.messages.iter().map(String::len).sum()
    }

    /// Does all of them, and syncs once.
    pub(super) fn all(appends: Vec<Self>, archive: &mut Archive) -> Finished {
        let bodies: Vec<Vec<&str>> =
            appends.iter().map(|append| append.messages.iter().map(String::as_str).collect()).collect();
        let parts: Vec<transcript::Append<'_>> = appends.iter().zip(&bodies).map(Self::part).collect();
        let (answers, failure) = match archive.append_all(&parts, unix_now()) {
            Ok(answers) => (answers.into_iter().map(|answer| answer.map_err(Arc::new)).collect(), Ok(())),
            Err(error) => {
                let error = Arc::new(error);
                (vec![Err(Arc::clone(&error)); appends.len()], Err(error))
            }
        };
        let answer = move |kept: Outcome<()>| {
            for (append, answer) in appends.into_iter().zip::<Vec<_>>(answers) {
                append.answer(&kept, answer);
            }
        };
        Finished { failure, answer: Some(Box::new(answer)) }
    }

    fn part<'a>((append, bodies): (&'a Self, &'a Vec<&'a str>)) -> transcript::Append<'a> {
        let Self { session, generation, position, .. } = append;
        transcript::Append { session, generation: *generation, position: *position, messages: bodies }
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
