//! Compressions: what left a list, kept with the session's next generation in one transaction.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use herma_archive::ArchiveError;
use herma_archive::compression::{Beside, Keeping};
use herma_archive::constraint::ConstraintRow;
use herma_archive::engine::EngineRow;
use herma_archive::node::NodeRow;
use herma_archive::normal::normal;
use herma_archive::original::Shortened;
use herma_archive::removed::{After, Beginning, Removal};
use herma_archive::session::{SessionRow, SnapshotRow};
use herma_archive::transcript::Appended;
use herma_archive::undo::{NoUndo, Undo, Undoable, Undone};
use herma_context::Message;
use herma_context::engine::{Compressed, Slot};
use tokio::task::JoinHandle;

use super::constraints::REMOVED;
use super::{ArchiveHandle, KnownTranscript, nodes};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::wide;

/// How long the archive waits for the rest of a compression that it has begun to keep; far
/// longer than any record takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A compression to be kept.
pub(crate) struct NewList<T> {
    /// The session.
    pub session: String,
    /// Names what leaves the list.
    pub handle: String,
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The summary that stands for what leaves.
    pub summary: String,
    /// The list before.
    pub input: Arc<[Message]>,
    /// The transcript that it was read from, if it was.
    pub transcript: Option<KnownTranscript>,
    /// The list after, and what leaves it.
    pub compressed: Arc<Compressed>,
    /// Rules that may be new or changed; those that a person removed meanwhile stay so.
    pub constraints: Vec<ConstraintRow>,
    /// What is frozen for a session that goes on; without it the same one does.
    pub continuation: Option<SnapshotRow>,
    /// What the engine remembers with it, as it is by then.
    pub engine: Box<dyn FnOnce() -> EngineRow + Send>,
    /// Does the same in memory, once it is kept; it is given the session that goes on.
    pub then: Box<dyn FnOnce(Option<SessionRow>) -> T + Send>,
}

/// Compressions to be undone.
pub(crate) struct EarlierList<T> {
    /// The session.
    pub session: String,
    /// The generation whose list is wanted; that before the newest compression when absent.
    pub to: Option<u64>,
    /// The caller's list; the transcript when absent.
    pub list: Option<Vec<String>>,
    /// Names what leaves the list.
    pub handle: String,
    /// What the engine remembers from now on, by what it did then.
    pub engine: Box<dyn FnOnce(Option<EngineRow>) -> EngineRow + Send>,
    /// Does the same in memory, once it is kept.
    pub then: Box<dyn FnOnce(Undone) -> T + Send>,
}

/// The part of a compression that is certain before its summary is written.
pub(crate) struct CompressionStart {
    /// The session.
    pub session: String,
    /// Names what leaves the list.
    pub handle: String,
    /// The session's generation after it.
    pub generation: u64,
    /// Position of the first of these messages.
    pub first: usize,
    /// Messages in a row that leave the list whatever the rest will be.
    pub messages: Vec<Message>,
}

/// A compression that the archive has begun to keep. Dropped, it is undone.
pub(crate) struct StagedCompression<T> {
    rest: SyncSender<NewList<T>>,
    kept: JoinHandle<Outcome<Option<T>>>,
}

impl ArchiveHandle {
    /// Keeps a compression whole, or nothing of it.
    pub(crate) async fn keep_compression<T: Send + 'static>(&self, list: NewList<T>) -> Outcome<T> {
        let shared = Arc::clone(&self.shared);
        self.write(move |archive| list.keep(archive.compression()?, shared.epoch())).await
    }

    /// Undoes compressions, or changes nothing and says why not.
    pub(crate) async fn undo<T: Send + 'static>(&self, earlier: EarlierList<T>) -> Outcome<Result<T, NoUndo>> {
        self.write(move |archive| {
            let EarlierList { session, to, list, handle, engine, then } = earlier;
            let list: Option<Vec<&str>> = list.as_ref().map(|list| list.iter().map(String::as_str).collect());
            let undo = Undo { session: &session, to, list: list.as_deref() };
            Ok(archive.undo(&undo, &handle, unix_now(), engine)?.map(then))
        })
        .await
    }

    /// The generation of the undo that took a compression back, if one did.
    pub(crate) async fn undone_by(&self, handle: &str) -> Outcome<Option<u64>> {
        let handle = handle.to_owned();
        self.read(move |reader| reader.undone_by(&handle)).await
    }

    /// What an undo would bring back.
    pub(crate) async fn undone(
        &self,
        session: String,
        to: Option<u64>,
        list: Option<Vec<String>>,
    ) -> Outcome<Result<Undone, NoUndo>> {
        self.read(move |reader| {
            let list: Option<Vec<&str>> = list.as_ref().map(|list| list.iter().map(String::as_str).collect());
            reader.undone(&Undo { session: &session, to, list: list.as_deref() })
        })
        .await
    }

    /// Begins to keep a compression whose rest comes soon: until then the archive does nothing
    /// else. To be called within the runtime.
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
                    // Not for the next one to find its place taken.
                    drop(comes);
                    list.map(|list| list.keep(keeping, shared.epoch())).transpose()
                })
                .await
        });
        StagedCompression { rest, kept }
    }
}

impl<T: Send + 'static> StagedCompression<T> {
    /// Gives the rest, and has all of it kept.
    pub(crate) async fn keep(self, archive: &ArchiveHandle, list: NewList<T>) -> Outcome<T> {
        match self.rest.send(list) {
            Ok(()) => match self.kept.await {
                Ok(Ok(Some(kept))) => Ok(kept),
                Ok(Err(error)) => Err(error),
                Ok(Ok(None)) | Err(_) => Err(Error::internal("context.compress")),
            },
            // The archive could not begin, or has waited too long.
            Err(returned) => archive.keep_compression(returned.0).await,
        }
    }
}

impl CompressionStart {
    fn begin(&self, keeping: &mut Keeping<'_>) -> Result<(), ArchiveError> {
        keeping.begin(&Beginning {
            handle: &self.handle,
            session: &self.session,
            generation: self.generation,
            time: unix_now(),
            first: wide(self.first),
            messages: &self.messages.iter().map(Message::raw).collect::<Vec<&str>>(),
        })
    }
}

impl<T> NewList<T> {
    fn keep(self, keeping: Keeping<'_>, epoch: u64) -> Result<T, ArchiveError> {
        let input = &self.input;
        let indexes = self.compressed.removed.iter().map(|removed| removed.index());
        let messages: Vec<(u64, &str)> =
            indexes.filter_map(|at| input.get(at).map(|message| (wide(at), message.raw()))).collect();
        let read_from = match self.transcript {
            Some(known) if known.epoch == epoch => keeping.reader().transcript_length(&self.session, known.id)?,
            _ => None,
        };
        let transcript = match read_from {
            Some(length) => Some(length),
            None => keep_up(&keeping, &self.session, self.generation.saturating_sub(1), input)?,
        };
        // What was appended while it was being compressed goes on behind the new list.
        let rest = wide(input.len())..transcript.unwrap_or_default();
        let slots: Vec<After<'_>> = self.compressed.slots.iter().map(after).collect();
        let texts: Vec<&str> = self.compressed.messages(input).map(Message::raw).collect();
        let undoable = Undoable { length: wide(input.len()), slots: &slots, list: &texts };
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
        let beside = Beside {
            engine: Some(&engine),
            constraints: &constraints,
            continuation: self.continuation.as_ref(),
            undo: Some(&undoable),
            nodes: &nodes,
            replaced: &replaced,
            anchors: &anchors,
        };
        let going_on = keeping.keep(&removal, &beside)?;
        Ok((self.then)(going_on))
    }
}

/// The rules but those that a person removed while the list was being compressed.
fn without_removed(
    keeping: &Keeping<'_>,
    session: &str,
    mut constraints: Vec<ConstraintRow>,
) -> Result<Vec<ConstraintRow>, ArchiveError> {
    let known = keeping.reader().constraints(session)?;
    constraints.retain(|row| !known.iter().any(|known| known.id == row.id && known.state == REMOVED));
    Ok(constraints)
}

/// A message that stays in another form, of the slot at a position.
fn shortened((to, slot): (u64, &Slot)) -> Option<Shortened<'_>> {
    match slot {
        Slot::Replaced { index, message } => Some(Shortened { from: wide(*index), to, body: message.raw() }),
        Slot::Kept(_) | Slot::Inserted(_) => None,
    }
}

fn after(slot: &Slot) -> After<'_> {
    match slot {
        Slot::Kept(at) => After::Kept(wide(*at)),
        Slot::Replaced { message, .. } | Slot::Inserted(message) => After::New(message.raw()),
    }
}

/// Appends to a session's transcript what the list has beyond it, and answers how long it
/// is then; `None` when the list is another one.
fn keep_up(keeping: &Keeping<'_>, id: &str, generation: u64, input: &[Message]) -> Result<Option<u64>, ArchiveError> {
    let kept = keeping.reader().transcript(id)?;
    let is_same = |kept: &str, sent: &str| kept == sent || normal(kept) == normal(sent);
    if !kept.iter().zip(input).all(|(kept, message)| is_same(kept, message.raw())) {
        return Ok(None);
    }
    let rest: Vec<&str> = input.iter().skip(kept.len()).map(Message::raw).collect();
    if !kept.is_empty() && !rest.is_empty() {
        let appended = keeping.append(id, generation, wide(kept.len()), &rest, unix_now())?;
        if let Appended::Conflict { .. } = appended {
            return Ok(None);
        }
    }
    Ok(Some(wide(kept.len().max(input.len()))))
}
