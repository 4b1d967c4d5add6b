//! Compressions: messages that left a list, stored with the session's next generation in one transaction.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use herma_archive::ArchiveError;
use herma_archive::compression::{CompressionExtras, CompressionTransaction};
use herma_archive::constraint::ConstraintRow;
use herma_archive::engine::EngineRow;
use herma_archive::node::NodeRow;
use herma_archive::normal::normal;
use herma_archive::original::Shortened;
use herma_archive::removed::{After, Beginning, Removal};
use herma_archive::session::{SessionRow, SnapshotRow};
use herma_archive::transcript::Appended;
use herma_archive::undo::{RestoredList, Undo, UndoRejection, Undoable};
use herma_context::Message;
use herma_context::engine::{Compressed, Slot};
use tokio::task::JoinHandle;

use super::constraints::REMOVED;
use super::{ArchiveHandle, KnownTranscript, nodes};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;

/// How long the archive waits for the rest of a compression that it has begun to store. This is far longer than the
/// rest ever takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A compression to be stored.
pub(crate) struct NewList<T> {
    /// The session.
    pub session: String,
    /// The handle of the messages that leave the list.
    pub handle: String,
    /// The session's generation after the compression.
    pub generation: u64,
    /// The time, in Unix seconds.
    pub time: f64,
    /// The summary that replaces the messages that leave.
    pub summary: String,
    /// The list before the compression.
    pub input: Arc<[Message]>,
    /// The transcript from which the list was read, if it was.
    pub transcript: Option<KnownTranscript>,
    /// The list after the compression, and the messages that leave it.
    pub compressed: Arc<Compressed>,
    /// Rules that may be new or changed. A rule that a person removed meanwhile stays removed.
    pub constraints: Vec<ConstraintRow>,
    /// The frozen snapshot of a new session that continues; `None` if the same session continues.
    pub continuation: Option<SnapshotRow>,
    /// Returns the engine's state at the time of the write.
    pub engine: Box<dyn FnOnce() -> EngineRow + Send>,
    /// Makes the same change in memory, once it is on disk. Gets the session that continues.
    pub then: Box<dyn FnOnce(Option<SessionRow>) -> T + Send>,
}

/// Compressions to be undone.
pub(crate) struct EarlierList<T> {
    /// The session.
    pub session: String,
    /// The generation whose list is wanted; `None` for the generation before the newest compression.
    pub to: Option<u64>,
    /// The caller's list; `None` for the transcript.
    pub list: Option<Vec<String>>,
    /// The handle of the messages that leave the list.
    pub handle: String,
    /// Returns the engine's new state, given its state at that generation.
    pub engine: Box<dyn FnOnce(Option<EngineRow>) -> EngineRow + Send>,
    /// Makes the same change in memory, once it is on disk.
    pub then: Box<dyn FnOnce(RestoredList) -> T + Send>,
}

/// The part of a compression that is final before its summary is written.
pub(crate) struct CompressionStart {
    /// The session.
    pub session: String,
    /// The handle of the messages that leave the list.
    pub handle: String,
    /// The session's generation after the compression.
    pub generation: u64,
    /// The position of the first of these messages.
    pub first: usize,
    /// Consecutive messages that leave the list in any case.
    pub messages: Vec<Message>,
}

/// A compression that the archive has begun to store. Dropping it undoes it.
pub(crate) struct StagedCompression<T> {
    rest: SyncSender<NewList<T>>,
    kept: JoinHandle<Outcome<Option<T>>>,
}

impl ArchiveHandle {
    /// Stores a compression completely, or not at all.
    pub(crate) async fn keep_compression<T: Send + 'static>(&self, list: NewList<T>) -> Outcome<T> {
        let shared = Arc::clone(&self.shared);
        self.write(move |archive| list.keep(archive.compression()?, shared.epoch())).await
    }

    /// Undoes compressions, or changes nothing and returns the reason.
    pub(crate) async fn undo<T: Send + 'static>(&self, earlier: EarlierList<T>) -> Outcome<Result<T, UndoRejection>> {
        self.write(move |archive| {
            let EarlierList { session, to, list, handle, engine, then } = earlier;
            let list: Option<Vec<&str>> = list.as_ref().map(|list| list.iter().map(String::as_str).collect());
            let undo = Undo { session: &session, to, list: list.as_deref() };
            Ok(archive.undo(&undo, &handle, unix_now(), engine)?.map(then))
        })
        .await
    }

    /// Returns the generation of the undo that reversed a compression, if there is one.
    pub(crate) async fn undone_by(&self, handle: &str) -> Outcome<Option<u64>> {
        let handle = handle.to_owned();
        self.read(move |reader| reader.undone_by(&handle)).await
    }

    /// Returns the list that an undo would restore.
    pub(crate) async fn undone(
        &self,
        session: String,
        to: Option<u64>,
        list: Option<Vec<String>>,
    ) -> Outcome<Result<RestoredList, UndoRejection>> {
        self.read(move |reader| {
            let list: Option<Vec<&str>> = list.as_ref().map(|list| list.iter().map(String::as_str).collect());
            reader.undone(&Undo { session: &session, to, list: list.as_deref() })
        })
        .await
    }

    /// Begins to store a compression whose rest comes soon. Until then the archive does nothing else. Must be called
    /// within the runtime.
    pub(crate) fn begin_compression<T: Send + 'static>(
        self: &Arc<Self>,
        start: CompressionStart,
    ) -> StagedCompression<T> {
        let (rest, comes) = sync_channel::<NewList<T>>(1);
        let (archive, shared) = (Arc::clone(self), Arc::clone(&self.shared));
        let kept = tokio::spawn(async move {
            archive
                .write(move |archive| {
                    let mut keeping = archive.compression()?;
                    start.begin(&mut keeping)?;
                    drop(start);
                    let list = comes.recv_timeout(PATIENCE).ok();
                    // A late `send` must fail, and not leave the list in a channel without a receiver.
                    drop(comes);
                    list.map(|list| list.keep(keeping, shared.epoch())).transpose()
                })
                .await
        });
        StagedCompression { rest, kept }
    }
}

impl<T: Send + 'static> StagedCompression<T> {
    /// Sends the rest, and waits until the whole compression is stored.
    pub(crate) async fn keep(self, archive: &ArchiveHandle, list: NewList<T>) -> Outcome<T> {
        match self.rest.send(list) {
            Ok(()) => match self.kept.await {
                Ok(Ok(Some(kept))) => Ok(kept),
                Ok(Err(error)) => Err(error),
                Ok(Ok(None)) | Err(_) => Err(Error::internal("context.compress")),
            },
            // The archive could not begin, or gave up waiting.
            Err(returned) => archive.keep_compression(returned.0).await,
        }
    }
}

impl CompressionStart {
    fn begin(&self, keeping: &mut CompressionTransaction<'_>) -> Result<(), ArchiveError> {
        keeping.begin(&Beginning {
            handle: &self.handle,
            session: &self.session,
            generation: self.generation,
            time: unix_now(),
            first: to_u64(self.first),
            messages: &self.messages.iter().map(Message::raw).collect::<Vec<&str>>(),
        })
    }
}

impl<T> NewList<T> {
    fn keep(self, keeping: CompressionTransaction<'_>, epoch: u64) -> Result<T, ArchiveError> {
        let input = &self.input;
        let indexes = self.compressed.removed.iter().map(|removed| removed.index());
        let messages: Vec<(u64, &str)> =
            indexes.filter_map(|at| input.get(at).map(|message| (to_u64(at), message.raw()))).collect();
        let read_from = match self.transcript {
            Some(known) if known.epoch == epoch => keeping.reader().transcript_length(&self.session, known.id)?,
            _ => None,
        };
        let transcript = match read_from {
            Some(length) => Some(length),
            None => keep_up(&keeping, &self.session, self.generation.saturating_sub(1), input)?,
        };
        // Messages appended during the compression follow the new list.
        let rest = to_u64(input.len())..transcript.unwrap_or_default();
        let slots: Vec<After<'_>> = self.compressed.slots.iter().map(after).collect();
        let texts: Vec<&str> = self.compressed.messages(input).map(Message::raw).collect();
        let undoable = Undoable { length: to_u64(input.len()), slots: &slots, list: &texts };
        let after: Vec<After<'_>> = slots.iter().copied().chain(rest.map(After::Kept)).collect();
        let constraints = without_removed(&keeping, &self.session, self.constraints)?;
        let engine = (self.engine)();
        let removal = Removal {
            handle: &self.handle,
            session: &self.session,
            generation: self.generation,
            time: self.time,
            summary: &self.summary,
            messages: &messages,
            after: transcript.is_some().then_some(&after),
            is_transcript: transcript.is_some(),
        };
        let replaced: Vec<Shortened<'_>> = (0..).zip(&self.compressed.slots).filter_map(shortened).collect();
        let nodes: Vec<NodeRow> = self.compressed.nodes.iter().map(nodes::row).collect();
        let anchors: Vec<(u64, String)> =
            self.compressed.anchors.iter().map(|(number, after)| (*number, after.to_string())).collect();
        let extras = CompressionExtras {
            engine: Some(&engine),
            constraints: &constraints,
            continuation: self.continuation.as_ref(),
            undo: Some(&undoable),
            nodes: &nodes,
            replaced: &replaced,
            anchors: &anchors,
        };
        let going_on = keeping.keep(&removal, &extras)?;
        Ok((self.then)(going_on))
    }
}

/// Returns the rules except those that a person removed during the compression.
fn without_removed(
    keeping: &CompressionTransaction<'_>,
    session: &str,
    mut constraints: Vec<ConstraintRow>,
) -> Result<Vec<ConstraintRow>, ArchiveError> {
    let known = keeping.reader().constraints(session)?;
    constraints.retain(|row| !known.iter().any(|known| known.id == row.id && known.state == REMOVED));
    Ok(constraints)
}

/// Returns the shortened message in the slot at a position.
fn shortened((to, slot): (u64, &Slot)) -> Option<Shortened<'_>> {
    match slot {
        Slot::Replaced { index, message } => Some(Shortened { from: to_u64(*index), to, body: message.raw() }),
        Slot::Kept(_) | Slot::Inserted(_) => None,
    }
}

fn after(slot: &Slot) -> After<'_> {
    match slot {
        Slot::Kept(at) => After::Kept(to_u64(*at)),
        Slot::Replaced { message, .. } | Slot::Inserted(message) => After::New(message.raw()),
    }
}

/// Appends to a session's transcript the messages that only the list has. Returns the transcript's length then; `None`
/// if the transcript differs from the list.
fn keep_up(
    keeping: &CompressionTransaction<'_>,
    id: &str,
    generation: u64,
    input: &[Message],
) -> Result<Option<u64>, ArchiveError> {
    let kept = keeping.reader().transcript(id)?;
    let is_same = |kept: &str, sent: &str| kept == sent || normal(kept) == normal(sent);
    if !kept.iter().zip(input).all(|(kept, message)| is_same(kept, message.raw())) {
        return Ok(None);
    }
    let rest: Vec<&str> = input.iter().skip(kept.len()).map(Message::raw).collect();
    if !kept.is_empty() && !rest.is_empty() {
        let appended = keeping.append(id, generation, to_u64(kept.len()), &rest, unix_now())?;
        if let Appended::Conflict { .. } = appended {
            return Ok(None);
        }
    }
    Ok(Some(to_u64(kept.len().max(input.len()))))
}
