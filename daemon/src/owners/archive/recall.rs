//! The text index, and reads of archived text.

use std::ops::Range;
use std::time::{Duration, Instant};

use herma_archive::Reader;
use herma_archive::browse::{ArchivedMemory, ArchivedMessage, Spoken};
use herma_archive::index::{MemoryText, OutputPart};
use herma_archive::removed::Compression;
use herma_archive::search::remote::RemoteCandidates;
use herma_archive::search::{Found, Kinds, Search};
use herma_archive::vector::{QuantizedVector, SaveVectorsResult, Waiting};
use herma_memory::{Row, Target};

use super::ArchiveHandle;
use crate::data::error::{Error, Outcome};

/// The number of messages that are indexed in one step before a search.
const SLICE: usize = 2000;

/// How long a search waits for the index, for example while an update rebuilds it. Messages that are still missing are
/// found later, except the newest ones, which the search reads directly.
const PATIENCE: Duration = Duration::from_secs(5);

/// A search query.
#[derive(Debug, Clone)]
pub(crate) struct RecallQuery {
    /// The words, as [`Search::query`] has them.
    pub words: String,
    /// Limits the search to this session and those that it continues.
    pub session: Option<String>,
    /// Limits the search to this profile.
    pub profile: Option<String>,
    /// Limits the search to sessions of this agent.
    pub agent: Option<String>,
    /// Limits the search to sessions of this folder, or of one below it.
    pub folder: Option<String>,
    /// Limits the search to these kinds.
    pub kinds: Kinds,
    /// Excludes hits before this time, in Unix seconds.
    pub since: Option<f64>,
    /// Excludes hits from this time on, in Unix seconds.
    pub until: Option<f64>,
    /// The time that the words name, in Unix seconds.
    pub period: Option<(f64, f64)>,
    /// The largest number of hits.
    pub limit: usize,
    /// The largest number of hits in one output.
    pub of_one_output: usize,
    /// The number of messages on each side of a hit.
    pub around: usize,
    /// How well a hit fits all the words at least, from 0 to 1.
    pub least_fit: f64,
    /// The embedder's vector of the words.
    pub vector: Option<Vec<f32>>,
    /// The hits in other archives.
    pub remote: Option<RemoteCandidates>,
}

impl ArchiveHandle {
    /// Searches the index.
    pub(crate) async fn search(&self, query: RecallQuery) -> Outcome<Found> {
        self.read(move |reader| {
            reader.search(&Search {
                query: &query.words,
                session: query.session.as_deref(),
                profile: query.profile.as_deref(),
                agent: query.agent.as_deref(),
                folder: query.folder.as_deref(),
                kinds: query.kinds,
                since: query.since,
                until: query.until,
                period: query.period,
                limit: query.limit,
                of_one_output: query.of_one_output,
                around: query.around,
                least_fit: query.least_fit,
                vector: query.vector.as_deref(),
                remote: query.remote.as_ref(),
            })
        })
        .await
    }

    /// Indexes the remaining messages, unless a search for these words reads them directly. Takes no longer than
    /// [`PATIENCE`].
    pub(crate) async fn index_messages(&self, words: &str) -> Outcome<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            let asked = words.to_owned();
            let must = self.read(move |reader| reader.must_index(&asked)).await;
            if matches!(must, Ok(false)) || Instant::now() > until || self.is_locked() {
                return Ok(());
            }
            // If the file can't be read, the writer finds out and handles it.
            match self.write(|archive| archive.index_pending(SLICE)).await {
                Err(Error::Archive(error)) if error.is_locked() => return Ok(()),
                done => drop(done?),
            }
        }
    }

    /// Sets the embedder that makes vectors from now on.
    pub(crate) async fn use_embedder(&self, name: String) -> Outcome<()> {
        self.write(move |archive| archive.use_embedder(&name)).await
    }

    /// Returns documents without a vector, oldest first, after an id.
    pub(crate) async fn without_vector(&self, behind: i64, limit: usize) -> Outcome<Waiting> {
        self.read(move |reader| reader.without_vector(behind, limit)).await
    }

    /// Stores vectors with this number of dimensions; `None` if no text got a vector.
    pub(crate) async fn keep_vectors(
        &self,
        dimensions: Option<usize>,
        vectors: Vec<(i64, QuantizedVector)>,
    ) -> Outcome<SaveVectorsResult> {
        self.write(move |archive| archive.keep_vectors(dimensions, &vectors)).await
    }

    /// Returns the handles of the outputs in the index.
    pub(crate) async fn indexed_outputs(&self) -> Outcome<Vec<String>> {
        self.read(Reader::indexed_outputs).await
    }

    /// Returns the newest indexed revision of each store, by profile and name.
    pub(crate) async fn indexed_stores(&self) -> Outcome<Vec<(String, String, u64)>> {
        self.read(Reader::indexed_memory).await
    }

    /// Indexes the parts of outputs for which `part` returns a text at the time of the write.
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

    /// Removes outputs from the index.
    pub(crate) async fn forget_outputs(&self, handles: Vec<String>) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.forget_outputs(&handles)).await
    }

    /// Removes outputs from the index without waiting for it.
    pub(crate) fn post_forgotten_outputs(&self, handles: Vec<String>) {
        self.post(move |archive| archive.forget_outputs(&handles));
    }

    /// Indexes the texts of a store's changes, which are given newest first. Writes the oldest first, so that the index
    /// never has gaps.
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

    /// Returns a message with those around it.
    pub(crate) async fn around(&self, id: u64, before: usize, after: usize) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.around(id, before, after)).await
    }

    /// Returns a page of the messages that a compression removed.
    pub(crate) async fn removed_page(
        &self,
        handle: String,
        from: usize,
        limit: usize,
    ) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.removed_page(&handle, from, limit)).await
    }

    /// Returns a page of the removed messages in a range of positions of the old list.
    pub(crate) async fn gone_range(
        &self,
        handle: String,
        positions: Range<u64>,
        from: usize,
        limit: usize,
    ) -> Outcome<Vec<ArchivedMessage>> {
        self.read(move |reader| reader.gone_range(&handle, positions, from, limit)).await
    }

    /// Returns the newest messages of a session, oldest first.
    pub(crate) async fn newest_bodies(&self, session: String, bytes: usize) -> Outcome<Vec<(u64, String)>> {
        self.read(move |reader| reader.newest_bodies(&session, bytes)).await
    }

    /// Returns the newest assistant messages of a session, up to this number of bytes.
    pub(crate) async fn spoken(&self, session: String, bytes: usize) -> Outcome<Vec<Spoken>> {
        self.read(move |reader| reader.spoken(&session, bytes)).await
    }

    /// Returns a text of a store's history.
    pub(crate) async fn memory_text(&self, id: u64) -> Outcome<Option<ArchivedMemory>> {
        self.read(move |reader| reader.memory_text(id)).await
    }

    /// Returns the compressions of a session.
    pub(crate) async fn compressions(&self, session: String) -> Outcome<Vec<Compression>> {
        self.read(move |reader| reader.describe(&session)).await
    }
}
