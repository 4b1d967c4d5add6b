//! The text index, and getting archived text back.

use std::ops::Range;
use std::time::{Duration, Instant};

use herma_archive::Reader;
use herma_archive::browse::{ArchivedMemory, ArchivedMessage, Spoken};
use herma_archive::index::{MemoryText, OutputPart};
use herma_archive::removed::Compression;
use herma_archive::search::elsewhere::Elsewhere;
use herma_archive::search::{Found, Kinds, Search};
use herma_archive::vector::{KeptVectors, Packed, Waiting};
use herma_memory::{Row, Target};

use super::ArchiveHandle;
use crate::data::error::{Error, Outcome};

/// Messages that are put into the index at one time before a search.
const SLICE: usize = 2000;

/// How long a search waits for the index, as after an update that makes it anew. What is not in it by
/// then is found later, but for the newest messages, which are read as they are.
const PATIENCE: Duration = Duration::from_secs(5);

/// What to look for.
#[derive(Debug, Clone)]
pub(crate) struct RecallQuery {
    /// The words, as [`Search::query`] has them.
    pub words: String,
    /// Only of this session and of those that it goes on for.
    pub session: Option<String>,
    /// Only of this profile.
    pub profile: Option<String>,
    /// Only these kinds.
    pub kinds: Kinds,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
    /// Hits at most.
    pub limit: usize,
    /// Hits in one output at most.
    pub of_one_output: usize,
    /// What an embedder made of the words.
    pub vector: Option<Vec<f32>>,
    /// What other archives have of them.
    pub elsewhere: Option<Elsewhere>,
}

impl ArchiveHandle {
    /// What the index has of it.
    pub(crate) async fn search(&self, query: RecallQuery) -> Outcome<Found> {
        self.read(move |reader| {
            reader.search(&Search {
                query: &query.words,
                session: query.session.as_deref(),
                profile: query.profile.as_deref(),
                kinds: query.kinds,
                since: query.since,
                until: query.until,
                limit: query.limit,
                of_one_output: query.of_one_output,
                vector: query.vector.as_deref(),
                elsewhere: query.elsewhere.as_ref(),
            })
        })
        .await
    }

    /// Puts the messages into the index that are not there yet, as far as a search for these words does
    /// not read them as they are; not for longer than [`PATIENCE`].
    pub(crate) async fn index_messages(&self, words: &str) -> Outcome<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            let asked = words.to_owned();
            let must = self.read(move |reader| reader.must_index(&asked)).await;
            if matches!(must, Ok(false)) || Instant::now() > until || self.is_locked() {
                return Ok(());
            }
            // A file that can't be read is for the writer to find out about.
            match self.write(|archive| archive.index_pending(SLICE)).await {
                Err(Error::Archive(error)) if error.is_locked() => return Ok(()),
                done => drop(done?),
            }
        }
    }

    /// Says which embedder makes vectors from now on.
    pub(crate) async fn use_embedder(&self, name: String) -> Outcome<()> {
        self.write(move |archive| archive.use_embedder(&name)).await
    }

    /// Documents without a vector, the oldest behind an id.
    pub(crate) async fn without_vector(&self, behind: i64, limit: usize) -> Outcome<Waiting> {
        self.read(move |reader| reader.without_vector(behind, limit)).await
    }

    /// Keeps vectors of so many numbers each; of none where no text had one.
    pub(crate) async fn keep_vectors(
        &self,
        dimensions: Option<usize>,
        vectors: Vec<(i64, Packed)>,
    ) -> Outcome<KeptVectors> {
        self.write(move |archive| archive.keep_vectors(dimensions, &vectors)).await
    }

    /// Handles of the outputs in the index.
    pub(crate) async fn indexed_outputs(&self) -> Outcome<Vec<String>> {
        self.read(Reader::indexed_outputs).await
    }

    /// The newest revision of each store in the index, by profile and name.
    pub(crate) async fn indexed_stores(&self) -> Outcome<Vec<(String, String, u64)>> {
        self.read(Reader::indexed_memory).await
    }

    /// Puts those parts of outputs into the index that `part` gives by then.
    pub(crate) async fn index_outputs<P: Send + 'static>(
        &self,
        parts: Vec<P>,
        part: impl Fn(&P) -> Option<OutputPart<'_>> + Send + 'static,
    ) -> Outcome<()> {
        self.write_if_in_use(move |archive| {
            let parts: Vec<OutputPart<'_>> = parts.iter().filter_map(&part).collect();
            archive.index_outputs(&parts)
        })
        .await
    }

    /// Takes outputs out of the index.
    pub(crate) async fn forget_outputs(&self, handles: Vec<String>) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.forget_outputs(&handles)).await
    }

    /// The same; nobody waits for it.
    pub(crate) fn post_forgotten_outputs(&self, handles: Vec<String>) {
        self.post(move |archive| archive.forget_outputs(&handles));
    }

    /// Puts the texts of a store's changes, newest first, into the index: oldest first, so that
    /// what is in the index has no gaps.
    pub(crate) async fn index_changes(
        &self,
        profile: String,
        target: Target,
        texts: Vec<(Row, String)>,
    ) -> Outcome<()> {
        self.write(move |archive| {
            for (row, text) in texts.iter().rev() {
                archive.index_memory(&MemoryText {
                    profile: &profile,
                    target: target.name(),
                    revision: row.revision,
                    time: row.time,
                    session: row.author.session.as_deref(),
                    action: row.action.name(),
                    text,
                })?;
            }
            Ok(())
        })
        .await
    }

    /// A message with those round it.
    pub(crate) async fn around(&self, id: u64, before: usize, after: usize) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.around(id, before, after)).await
    }

    /// A part of what a compression took out.
    pub(crate) async fn removed_page(
        &self,
        handle: String,
        from: usize,
        limit: usize,
    ) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.removed_page(&handle, from, limit)).await
    }

    /// The same of those at some positions of the list before.
    pub(crate) async fn gone_range(
        &self,
        handle: String,
        positions: Range<u64>,
        from: usize,
        limit: usize,
    ) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.gone_range(&handle, positions, from, limit)).await
    }

    /// The newest messages of a session, oldest first.
    pub(crate) async fn newest_bodies(&self, session: String, bytes: usize) -> Outcome<Vec<(u64, String)>> {
        self.read(move |reader| reader.newest_bodies(&session, bytes)).await
    }

    /// The newest messages of the assistant in a session, as many as have so many bytes.
    pub(crate) async fn spoken(&self, session: String, bytes: usize) -> Outcome<Vec<Spoken>> {
        self.read(move |reader| reader.spoken(&session, bytes)).await
    }

    /// A text out of a store's history.
    pub(crate) async fn memory_text(&self, id: u64) -> Outcome<Option<ArchivedMemory>> {
        self.read(move |reader| reader.memory_text(id)).await
    }

    /// The compressions of a session.
    pub(crate) async fn compressions(&self, session: String) -> Outcome<Vec<Compression>> {
        self.read(move |reader| reader.describe(&session)).await
    }
}
