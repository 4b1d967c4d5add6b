//! Indexes content that is not part of a session's messages: spilled outputs, and changes of the stores. The archive
//! indexes messages itself.
//!
//! Content that was missed, for example because a daemon was killed or notifications came too fast, is found by
//! comparing the existing content with the index.

mod changes;
mod outputs;
mod vectors;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use herma_guard::Policy;
use herma_memory::Target;
use herma_spill::Outputs;
use herma_spill::catalog::State as Fate;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

pub(crate) use self::vectors::Embedding;
use crate::data::error::Outcome;
use crate::owners::archive::ArchiveHandle;
use crate::owners::events::Events;
use crate::owners::stores::Stores;

/// How long no further output may arrive before the waiting ones are indexed. An agent that produces outputs now should
/// have the machine to itself.
const QUIET: Duration = Duration::from_millis(250);

/// The longest time that outputs wait, even if more arrive.
const LATEST: Duration = Duration::from_secs(10);

/// How long a search waits for outputs that were kept just before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of notes that are received at once.
const MOST_NOTES: usize = 1000;

/// The content to be indexed, and the progress of indexing.
#[derive(Debug)]
pub(crate) struct IndexNotes {
    notes: mpsc::UnboundedSender<Note>,
    /// The number of outputs that wait.
    waiting: watch::Sender<usize>,
    /// Notifies that a search waits for them.
    hurry: Notify,
    /// The newest indexed revision of each store.
    filed: Mutex<HashMap<(String, Target), u64>>,
}

/// The queue of the indexer.
pub(crate) type IndexQueue = mpsc::UnboundedReceiver<Note>;

/// A note for the indexer.
#[derive(Debug)]
pub(crate) enum Note {
    /// An output with this handle was kept.
    Output(String),
    /// Content may have been missed.
    LookAgain,
}

impl IndexNotes {
    pub(crate) fn new() -> (Self, IndexQueue) {
        let (notes, queue) = mpsc::unbounded_channel();
        (Self { notes, waiting: watch::Sender::new(0), hurry: Notify::new(), filed: Mutex::default() }, queue)
    }

    /// Adds an output to the queue.
    pub(crate) fn note(&self, handle: &str) {
        self.waiting.send_modify(|waiting| *waiting += 1);
        if self.notes.send(Note::Output(handle.to_owned())).is_err() {
            self.waiting.send_replace(0);
        }
    }

    /// Makes the indexer compare the existing content with the index.
    pub(crate) fn look_again(&self) {
        drop(self.notes.send(Note::LookAgain));
    }

    /// Notes that the index is a new, empty one.
    pub(crate) fn reset(&self) {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.look_again();
    }

    /// Waits a short time until the noted outputs are indexed. Returns how many are not; a later search finds those.
    async fn flush(&self, patience: Duration) -> usize {
        let mut waiting = self.waiting.subscribe();
        if *waiting.borrow() == 0 {
            return 0;
        }
        self.hurry.notify_one();
        match tokio::time::timeout(patience, waiting.wait_for(|waiting| *waiting == 0)).await {
            Ok(_) => 0,
            Err(_) => *self.waiting.borrow(),
        }
    }

    fn filed(&self, profile: &str, target: Target) -> Option<u64> {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).get(&(profile.to_owned(), target)).copied()
    }

    fn set_filed(&self, profile: &str, target: Target, revision: u64) {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).insert((profile.to_owned(), target), revision);
    }

    fn done(&self, count: usize) {
        self.waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(count));
    }
}

/// Indexes noted and missing content.
#[derive(Debug)]
pub(crate) struct RecallIndexer {
    pub notes: Arc<IndexNotes>,
    pub archive: Arc<ArchiveHandle>,
    pub outputs: Arc<Outputs>,
    pub stores: Arc<Stores>,
    pub policy: Arc<Policy>,
    /// The embedder for vectors, if one is configured.
    pub embedding: Option<Embedding>,
}

impl RecallIndexer {
    /// Runs for as long as it is polled.
    pub(crate) async fn work(&self, events: &Events, mut queue: IndexQueue) {
        let changes = events.subscribe();
        self.notes.look_again();
        tokio::join!(file_outputs(self, &mut queue), changes::file_changes(self, changes), vectors::embed_new(self));
    }

    /// Brings the index up to date before a search: messages, unless the search reads them directly, and other content
    /// as far as that is quick. Returns how many outputs can't be found yet.
    pub(crate) async fn catch_up(&self, words: &str, profile: Option<&str>) -> Outcome<usize> {
        if !self.archive.is_in_use() {
            return Ok(0);
        }
        // While another program has the archive locked, nothing can be indexed.
        let patience = if self.archive.is_locked() { Duration::ZERO } else { PATIENCE };
        let late = self.notes.flush(patience).await;
        if !self.archive.is_locked() {
            changes::file_stores(self, profile).await;
        }
        self.archive.index_messages(words).await?;
        Ok(late)
    }
}

/// Removes outputs that are gone from the index, and returns those that are missing in it.
async fn compare(indexer: &RecallIndexer) -> Outcome<Vec<String>> {
    if !indexer.archive.is_in_use() {
        return Ok(Vec::new());
    }
    let indexed: HashSet<String> = indexer.archive.indexed_outputs().await?.into_iter().collect();
    let records = indexer.outputs.list_where(None, usize::MAX, |record| record.state == Fate::Kept);
    let mut kept: Vec<String> = records.iter().map(|record| record.handle.to_string()).collect();
    let there: HashSet<&String> = kept.iter().collect();
    let gone: Vec<String> = indexed.iter().filter(|handle| !there.contains(handle)).cloned().collect();
    if !gone.is_empty() {
        indexer.archive.forget_outputs(gone).await?;
    }
    changes::file_stores(indexer, None).await;
    kept.retain(|handle| !indexed.contains(handle));
    Ok(kept)
}

async fn file_outputs(indexer: &RecallIndexer, queue: &mut IndexQueue) {
    let mut notes = Vec::new();
    while queue.recv_many(&mut notes, MOST_NOTES).await > 0 {
        gather(indexer, queue, &mut notes).await;
        let looks_again = notes.iter().any(|note| matches!(note, Note::LookAgain));
        let mut handles: BTreeSet<String> = BTreeSet::new();
        let mut count = 0;
        for note in notes.drain(..) {
            if let Note::Output(handle) = note {
                handles.insert(handle);
                count += 1;
            }
        }
        if looks_again {
            match compare(indexer).await {
                Ok(missing) => handles.extend(missing),
                Err(error) => tracing::warn!("not everything can be found by recall: {error}"),
            }
        }
        if let Err(error) = outputs::file_all(indexer, handles).await {
            tracing::warn!("outputs that can't be found by recall until it is looked again: {error}");
        }
        indexer.notes.done(count);
    }
}

/// Waits until no more notes arrive for a while, or a search needs them.
async fn gather(indexer: &RecallIndexer, queue: &mut IndexQueue, notes: &mut Vec<Note>) {
    let latest = Instant::now() + LATEST;
    loop {
        let quiet = (Instant::now() + QUIET).min(latest);
        tokio::select! {
            () = indexer.notes.hurry.notified() => return,
            () = tokio::time::sleep_until(quiet) => return,
            more = queue.recv_many(notes, MOST_NOTES) => if more == 0 { return },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_search_says_how_much_is_not_in_the_index_yet() {
        let (notes, mut queue) = IndexNotes::new();
        assert_eq!(notes.flush(PATIENCE).await, 0);
        notes.note("out_1");
        notes.note("out_2");
        assert_eq!(notes.flush(Duration::from_millis(1)).await, 2, "nobody files them");
        let filing = async {
            while queue.recv().await.is_some() {
                notes.done(1);
            }
        };
        tokio::select! {
            late = notes.flush(PATIENCE) => assert_eq!(late, 0),
            () = filing => unreachable!("the queue is open"),
        }
    }
}
