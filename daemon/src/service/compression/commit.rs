//! The last phase: builds the new list, and archives the messages that left the old one.

use std::sync::Arc;

use herma_archive::constraint::ConstraintRow;
use herma_archive::session::SessionRow;
use herma_context::Message;
use herma_context::engine::{Compressed, RunNotes, Summary, Writer};
use tokio::sync::OwnedMutexGuard;

use super::previews::Previews;
use super::run::{Committed, Run, RunOptions, RunReport, WrittenSummary};
use super::{CompressionService, constraints};
use crate::data::clock::unix_now;
use crate::data::config::CompressionMode;
use crate::data::error::{Error, Outcome};
use crate::data::event::Phase;
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::NewList;
use crate::owners::blocking::blocking;
use crate::service::engine_record::EngineRecord;
use crate::service::session::Session;
use crate::service::snapshot::freeze;

/// A compression that is stored.
pub(super) struct Done {
    pub compressed: Arc<Compressed>,
    pub input: Arc<[Message]>,
    /// The handle of the messages that left the list.
    pub handle: String,
    /// The session with which the client continues.
    pub session: Arc<Session>,
    pub report: RunReport,
    pub by: Kind,
    /// Whether the compressions follow each other too often to help.
    pub is_ineffective: bool,
    /// The engine's record after the compression.
    pub record: EngineRecord,
}

/// Builds the new list and stores it. Once the request has reached the archive, its thread finishes alone. So session
/// and archive agree on the generation, even if the caller no longer waits.
pub(super) async fn commit(
    service: &Arc<CompressionService>,
    run: Run,
    text: WrittenSummary,
    running: OwnedMutexGuard<()>,
) -> Outcome<Done> {
    let needs_summary = run.prepared.needs_summary();
    let Run { session, generation, prepared, options, transcript, report, staged } = run;
    let RunOptions { chain, mode, .. } = options;
    if session.generation() != generation {
        let id = &session.id;
        return Err(Error::Conflict(format!("session {id:?} has moved on to another generation; send its list again")));
    }
    service.publish_phase(&session, Phase::Assemble);
    let handle = handle(&session, generation);
    let prepared = Arc::into_inner(prepared).ok_or_else(|| Error::internal("context.compress"))?;
    let WrittenSummary { body, by } = text;
    let (named, shared, origin) = (handle.clone(), Arc::clone(service), Arc::clone(&session));
    let (compressed, input, constraints) = blocking("context.compress", move || {
        let rules = prepared.constraints();
        let constraints: Vec<ConstraintRow> =
            if rules.changed { rules.constraints.iter().map(constraints::row).collect() } else { Vec::new() };
        let input: Arc<[Message]> = prepared.input().into();
        let previews = Previews::keep(&shared, &origin, prepared.spills());
        let preview = |at, chars| previews.of(at, chars);
        let writer = if by == Kind::Extractive { Writer::Extractive } else { Writer::Model };
        let summary = Summary { body, writer, ..Summary::default() };
        let compressed = prepared.finish(summary, named, &preview);
        Ok((Arc::new(compressed), input, constraints))
    })
    .await?;
    let continuation = match mode {
        CompressionMode::InPlace => None,
        CompressionMode::Continue => Some(freeze(&service.stores, &session.profile).await?),
    };
    let notes = report.notes(needs_summary && by != chain.configured());
    let summary = compressed.state.previous_summary.clone().unwrap_or_default();
    let change = Arc::new(RecordChange { notes, compressed: Arc::clone(&compressed), now: unix_now() });
    let next_generation = generation + 1;
    let (of_archive, of_memory) = (Arc::clone(&change), Arc::clone(&change));
    let (shared, kept, live) = (Arc::clone(service), Arc::clone(&session), Arc::clone(&session));
    let list = NewList {
        session: session.id.clone(),
        handle: handle.clone(),
        generation: next_generation,
        time: change.now,
        summary,
        input: Arc::clone(&input),
        transcript,
        compressed: Arc::clone(&compressed),
        constraints,
        continuation,
        engine: Box::new(move || {
            let mut next = kept.record().clone();
            of_archive.apply(&mut next);
            next.row()
        }),
        then: Box::new(move |going_on| {
            let committed = commit_in_memory(&shared, live, next_generation, &of_memory, going_on);
            // Until here, no other compression of the session runs.
            drop(running);
            committed
        }),
    };
    let Committed { session, is_ineffective, record } = match staged {
        Some(staged) => staged.keep(&service.archive, list).await?,
        None => service.archive.keep_compression(list).await?,
    };
    Ok(Done { compressed, input, handle, session, report, by, is_ineffective, record })
}

/// Makes the same change in memory that the archive has stored.
fn commit_in_memory(
    service: &CompressionService,
    session: Arc<Session>,
    generation: u64,
    change: &RecordChange,
    going_on: Option<SessionRow>,
) -> Committed {
    session.set_generation(generation);
    let (is_ineffective, record) = {
        let mut live = session.record();
        (change.apply(&mut live), live.clone())
    };
    service.forget(&session.id);
    let Some(row) = going_on else { return Committed { session, is_ineffective, record } };
    let next = service.table.insert(Session::going_on(row, record.clone()));
    service.table.forget(&session.id);
    Committed { session: next, is_ineffective, record }
}

/// Returns the handle for the messages that leave a session's list when a generation ends.
pub(super) fn handle(session: &Session, generation: u64) -> String {
    format!("cmp_{}_{}", session.mark(), generation + 1)
}

/// The change of a session's record by a run.
struct RecordChange {
    notes: RunNotes,
    compressed: Arc<Compressed>,
    now: f64,
}

impl RecordChange {
    /// Changes the record. Returns true if compressions follow each other too often.
    fn apply(&self, record: &mut EngineRecord) -> bool {
        let numbers = &self.compressed.numbers;
        record.engine.commit(&self.compressed, &self.notes);
        record.breaker.note_run(numbers.savings_pct, numbers.tokens_after, self.now);
        record.counting.list_changed();
        record.streak.count(numbers.messages_before, numbers.messages_after)
    }
}
