//! Puts into the text index what is not said in a session: spilled outputs, and what
//! was written to the stores. Messages are the archive's own business.
//!
//! Whatever is missed (a daemon that was killed, notifications that came too fast) is
//! found by comparing what there is with what is in the index.

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

/// How long nothing more must have come before the outputs that wait are put into the
/// index: an agent that keeps outputs now should have the machine.
const QUIET: Duration = Duration::from_millis(250);

/// How long outputs wait at most, however many come.
const LATEST: Duration = Duration::from_secs(10);

/// How long a search waits for what was kept right before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Notes that are taken at one time.
const MOST_NOTES: usize = 1000;

/// What is to be put into the index, and how far it is.
#[derive(Debug)]
pub(crate) struct IndexNotes {
    notes: mpsc::UnboundedSender<Note>,
    /// Outputs that wait.
    waiting: watch::Sender<usize>,
    /// Somebody waits for them.
    hurry: Notify,
    /// The newest revision of each store that is in the index.
    filed: Mutex<HashMap<(String, Target), u64>>,
}

/// What the indexer works on.
pub(crate) type IndexQueue = mpsc::UnboundedReceiver<Note>;

/// What the indexer is told.
#[derive(Debug)]
pub(crate) enum Note {
    /// This output was kept.
    Output(String),
    /// Something may have been missed.
    LookAgain,
}

impl IndexNotes {
    pub(crate) fn new() -> (Self, IndexQueue) {
        let (notes, queue) = mpsc::unbounded_channel();
        (Self { notes, waiting: watch::Sender::new(0), hurry: Notify::new(), filed: Mutex::default() }, queue)
    }

    /// Puts an output into the index soon.
    pub(crate) fn note(&self, handle: &str) {
        self.waiting.send_modify(|waiting| *waiting += 1);
        if self.notes.send(Note::Output(handle.to_owned())).is_err() {
            self.waiting.send_replace(0);
        }
    }

    /// Has it compared what there is with what is in the index.
    pub(crate) fn look_again(&self) {
        drop(self.notes.send(Note::LookAgain));
    }

    /// The index is another one, and empty.
    pub(crate) fn begin_anew(&self) {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.look_again();
    }

    /// Waits, but not long, until the outputs that were noted are in the index; gives how many are not by then. A
    /// later search finds those.
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

/// Puts into the index what is noted, and what is missing there.
#[derive(Debug)]
pub(crate) struct RecallIndexer {
    pub notes: Arc<IndexNotes>,
    pub archive: Arc<ArchiveHandle>,
    pub outputs: Arc<Outputs>,
    pub stores: Arc<Stores>,
    pub policy: Arc<Policy>,
    /// What makes vectors, where that is configured.
    pub embedding: Option<Embedding>,
}

impl RecallIndexer {
    /// Works for as long as it is polled.
    pub(crate) async fn work(&self, events: &Events, mut queue: IndexQueue) {
        let changes = events.subscribe();
        self.notes.look_again();
        tokio::join!(file_outputs(self, &mut queue), changes::file_changes(self, changes), vectors::embed_new(self));
    }

    /// What is searched must be in the index first: messages, unless the search reads them as they
    /// are, and the rest as far as that does not take long. Gives how many outputs are not found yet.
    pub(crate) async fn catch_up(&self, words: &str, profile: Option<&str>) -> Outcome<usize> {
        if !self.archive.is_in_use() {
            return Ok(0);
        }
        // Nothing gets into the index while another program has the archive locked.
        let patience = if self.archive.is_locked() { Duration::ZERO } else { PATIENCE };
        let late = self.notes.flush(patience).await;
        if !self.archive.is_locked() {
            changes::file_stores(self, profile).await;
        }
        self.archive.index_messages(words).await?;
        Ok(late)
    }
}

/// Finds what is not in the index, and what is there of outputs that are gone.
async fn compare(indexer: &RecallIndexer) -> Outcome<Vec<String>> {
    if !indexer.archive.is_in_use() {
        return Ok(Vec::new());
    }
    let indexed: HashSet<String> = indexer.archive.indexed_outputs().await?.into_iter().collect();
    let records = indexer.outputs.list_where(usize::MAX, |record| record.state == Fate::Kept);
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

/// Waits until no more come for a while, or somebody wants to find them.
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
