//! The last phase: the new list, and what left the old one in the archive.

use std::sync::Arc;

use herma_archive::ArchiveError;
use herma_archive::compression::{Beside, Keeping};
use herma_archive::constraint::ConstraintRow;
use herma_archive::removed::{After, Removal};
use herma_archive::session::SnapshotRow;
use herma_archive::transcript::Appended;
use herma_context::{ArchiveNote, Compressed, EngineState, Message, Slot, Summary, Writer};
use herma_protocol::ErrorKind;
use herma_protocol::RpcError;
use herma_protocol::notification::Phase;
use herma_spill::name;
use tokio::sync::OwnedMutexGuard;

use super::job::{Account, Job, Text};
use super::kept::Kept;
use super::previews::Previews;
use super::{rules, tell};
use crate::config::CompressionMode;
use crate::fail::{self, Outcome};
use crate::handler::{blocking, freeze, from_continuation, wide};
use crate::session::Session;
use crate::state::{State, unix_now};
use crate::summarizer::Kind;

/// Hex digits that stand for a session in names.
const DIGITS: usize = 12;

/// A compression that is kept.
pub(crate) struct Done {
    pub compressed: Arc<Compressed>,
    pub input: Arc<[Message]>,
    /// Names what left the list.
    pub handle: String,
    /// The session to go on with.
    pub session: Arc<Session>,
    pub account: Account,
    pub by: Kind,
    /// It came too often to help.
    pub is_vain: bool,
    /// What is remembered now.
    pub kept: Kept,
}

/// What a run changes in what a session remembers.
struct Effect {
    run: EngineState,
    compressed: Arc<Compressed>,
    now: f64,
}

/// Puts the list together and has it kept. Once the archive was asked, its thread
/// finishes alone, so that session and archive agree on the generation whether the caller
/// still waits or not.
pub(crate) async fn commit(state: &Arc<State>, job: Job, text: Text, running: OwnedMutexGuard<()>) -> Outcome<Done> {
    let Job { session, generation, prepared, chain, mode, account, stage, .. } = job;
    if session.generation() != generation {
        let words = format!("session {:?} has moved on to another generation; send its list again", session.id);
        return Err(RpcError::new(ErrorKind::Conflict, words));
    }
    tell(state, &session, Phase::Assemble);
    let handle = handle(&session, generation);
    let generation = generation + 1;
    let prepared = Arc::into_inner(prepared).ok_or_else(|| fail::internal("context.compress"))?;
    let Text { body, by } = text;
    let (named, shared, origin) = (handle.clone(), Arc::clone(state), Arc::clone(&session));
    let (compressed, input, constraints) = blocking("context.compress", move || {
        let rules = prepared.constraints();
        let constraints: Vec<ConstraintRow> =
            if rules.changed { rules.constraints.iter().map(rules::row).collect() } else { Vec::new() };
        let input: Arc<[Message]> = prepared.input().into();
        let note = ArchiveNote { handle: named, messages: prepared.dropped() };
        let previews = Previews::keep(&shared, &origin, prepared.spills());
        let preview = |at, chars| previews.of(at, chars);
        let writer = if by == Kind::Extractive { Writer::Extractive } else { Writer::Model };
        let summary = Summary { body, writer, ..Summary::default() };
        let compressed = prepared.finish_with(summary, note, &preview);
        Ok((Arc::new(compressed), input, constraints))
    })
    .await?;
    let snapshot = match mode {
        CompressionMode::InPlace => None,
        CompressionMode::Continue => Some(freeze(state, &session.profile).await?),
    };
    let mut run = compressed.state.clone();
    run.fallback = by != chain.configured();
    run.last_error.clone_from(&account.error);
    run.aux_failure.clone_from(&account.aux_failure);
    let effect = Effect { run, compressed: Arc::clone(&compressed), now: unix_now() };
    let leaving = Leaving {
        session,
        running,
        input: Arc::clone(&input),
        handle: handle.clone(),
        generation,
        constraints,
        snapshot,
        effect,
    };
    let Left { session, is_vain, kept } = match stage {
        Some(stage) => stage.keep(state, leaving).await?,
        None => leave(state, leaving).await?,
    };
    Ok(Done { compressed, input, handle, session, account, by, is_vain, kept })
}

/// Has a compression kept of which nothing was kept before.
pub(super) async fn leave(state: &Arc<State>, leaving: Leaving) -> Outcome<Left> {
    let shared = Arc::clone(state);
    state.archive.call(move |archive| leaving.keep(&shared, archive.compression()?)).await
}

/// Names the compression of a session at a generation.
pub(super) fn handle(session: &Session, generation: u64) -> String {
    format!("cmp_{}_{}", short_hash(&session.id), generation + 1)
}

/// Stands for a session in the names of what was made of it.
pub(crate) fn short_hash(session: &str) -> String {
    name::hex(session.as_bytes()).chars().take(DIGITS).collect()
}

impl Effect {
    /// Changes what is remembered; true when the run is one too many.
    fn apply(&self, kept: &mut Kept) -> bool {
        let numbers = &self.compressed.numbers;
        kept.engine.take_run(self.run.clone());
        kept.engine.record_compression(numbers.tokens_after);
        kept.breaker.note_run(numbers.savings_pct, numbers.tokens_after, self.now);
        kept.counting.list_changed();
        kept.streak.count(numbers.messages_before, numbers.messages_after)
    }
}

/// What a compression takes out of a list, and what is changed with it.
pub(super) struct Leaving {
    session: Arc<Session>,
    /// No other compression of the session runs as long.
    running: OwnedMutexGuard<()>,
    input: Arc<[Message]>,
    handle: String,
    generation: u64,
    /// Rules that may be new or changed.
    constraints: Vec<ConstraintRow>,
    /// For a session that goes on.
    snapshot: Option<SnapshotRow>,
    effect: Effect,
}

/// What came of keeping it.
pub(super) struct Left {
    /// The session to go on with.
    session: Arc<Session>,
    /// It came too often to help.
    is_vain: bool,
    /// What is remembered now.
    kept: Kept,
}

impl Leaving {
    /// Keeps it all, in the archive and then in memory.
    pub(super) fn keep(self, state: &State, archive: Keeping<'_>) -> Result<Left, ArchiveError> {
        let Self { session, running, input, handle, generation, constraints, snapshot, effect } = self;
        let id = &session.id;
        let compressed = &effect.compressed;
        let indexes = compressed.removed.iter().map(|removed| removed.index());
        let messages: Vec<(u64, &str)> =
            indexes.filter_map(|at| input.get(at).map(|message| (wide(at), message.raw()))).collect();
        let transcript = keep_up(&archive, id, generation.saturating_sub(1), &input)?;
        // What was appended while it was being compressed goes on behind the new list.
        let rest = wide(input.len())..transcript.unwrap_or_default();
        let after: Vec<After<'_>> = compressed.slots.iter().map(after).chain(rest.map(After::Kept)).collect();
        let constraints = without_removed(&archive, id, constraints)?;
        let mut next = session.kept().clone();
        effect.apply(&mut next);
        let row = next.row();
        let removal = Removal {
            handle: &handle,
            session: id,
            generation,
            time: effect.now,
            summary: effect.run.previous_summary.as_deref().unwrap_or_default(),
            messages: &messages,
            after: transcript.is_some().then_some(&after),
        };
        let beside = Beside { engine: Some(&row), constraints: &constraints, continuation: snapshot.as_ref() };
        let going_on = archive.keep(&removal, &beside)?;
        session.set_generation(generation);
        let (is_vain, kept) = {
            let mut live = session.kept();
            (effect.apply(&mut live), live.clone())
        };
        state.compressions.forget(id);
        drop(running);
        let Some(row) = going_on else { return Ok(Left { session, is_vain, kept }) };
        let next = state.sessions.insert(from_continuation(row, kept.clone()));
        state.sessions.forget(&session.id);
        Ok(Left { session: next, is_vain, kept })
    }
}

/// The rules but those that a person removed while the list was being compressed.
fn without_removed(
    archive: &Keeping<'_>,
    session: &str,
    mut constraints: Vec<ConstraintRow>,
) -> Result<Vec<ConstraintRow>, ArchiveError> {
    let known = archive.reader().constraints(session)?;
    constraints.retain(|row| !known.iter().any(|known| known.id == row.id && rules::is_removed(known)));
    Ok(constraints)
}

fn after(slot: &Slot) -> After<'_> {
    match slot {
        Slot::Kept(at) => After::Kept(wide(*at)),
        Slot::Replaced { message, .. } | Slot::Inserted(message) => After::New(message.raw()),
    }
}

/// Appends to a session's transcript what the list has beyond it, and answers how long it
/// is then; `None` when the list is another one.
fn keep_up(archive: &Keeping<'_>, id: &str, generation: u64, input: &[Message]) -> Result<Option<u64>, ArchiveError> {
    let kept = archive.reader().transcript(id)?;
    if !kept.iter().zip(input).all(|(kept, message)| kept == message.raw()) {
        return Ok(None);
    }
    let rest: Vec<&str> = input.iter().skip(kept.len()).map(Message::raw).collect();
    if !kept.is_empty() && !rest.is_empty() {
        let appended = archive.append(id, generation, wide(kept.len()), &rest, unix_now())?;
        if let Appended::Conflict { .. } = appended {
            return Ok(None);
        }
    }
    Ok(Some(wide(kept.len().max(input.len()))))
}
