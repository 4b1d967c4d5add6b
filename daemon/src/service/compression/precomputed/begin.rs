//! Making a run in advance.

use std::sync::Arc;

use herma_context::Settings;
use herma_context::engine::{Focus, Prepared};
use herma_context::forms::{self, Read};

use super::{Ready, RunGuard, RunOrigin, Stage};
use crate::data::error::Outcome;
use crate::data::event::Phase;
use crate::owners::blocking::blocking;
use crate::service::compression::run::{Run, RunOptions, RunReport};
use crate::service::compression::writing::{Step, Writing};
use crate::service::compression::{CompressionService, list};
use crate::service::session::Session;

/// Begins a run for the session's transcript, unless there is one. Returns `None` if there is nothing to compress, or
/// if only the agent could write the summary.
pub(in crate::service::compression) async fn begin(
    service: &Arc<CompressionService>,
    session: &Arc<Session>,
    settings: Settings,
    focus: Focus,
) -> Outcome<Option<(String, Stage)>> {
    let precomputed = &service.prepared.precomputed;
    if let Some(known) = precomputed.stage(session, &settings, &focus) {
        return Ok(Some(known));
    }
    // The run is registered before its input is read, so that any change of the input ends it.
    let by = RunOrigin { asked: true, is_quick: service.needs_no_model(session, &settings) };
    let started = precomputed.start(session, settings.clone(), focus.clone(), by);
    let name = started.name().to_owned();
    let options = service.options_ahead(session, focus).await?;
    let Some(run) = prepare(service, session, &settings, options).await? else { return Ok(None) };
    let task = tokio::spawn({
        let service = Arc::clone(service);
        async move { write(&service, run, started).await }
    });
    precomputed.is_done_by(&name, task.abort_handle());
    Ok(Some((name, Stage::Started)))
}

/// Reads the transcript and decides which messages to replace; `None` as in [`begin`].
pub(super) async fn prepare(
    service: &Arc<CompressionService>,
    session: &Arc<Session>,
    settings: &Settings,
    mut options: RunOptions,
) -> Outcome<Option<Run>> {
    let Some(chain) = options.chain.without_client(settings.engine) else { return Ok(None) };
    service.tell_nodes(session, settings, &mut options.request).await?;
    let (generation, state) = (session.generation(), session.record().engine.clone());
    let Some((transcript, texts)) = service.archive.transcript(session.id.clone()).await? else { return Ok(None) };
    options.chain = chain;
    let (request, used) = (std::mem::take(&mut options.request), settings.clone());
    let prepared = blocking("context.compact_ahead", move || {
        // A list that needs translation is compressed on request only.
        let Read { messages, translation: None } = forms::read_kept(texts) else { return Ok(None) };
        Ok(used.engine.prepare(&list::parse(messages), &used, &state, &request, |_| ()).ok())
    });
    // A list that must become small at once needs decisions at that time.
    let prepared = prepared.await?.filter(Prepared::is_ordinary);
    Ok(prepared.map(|prepared| Run {
        session: Arc::clone(session),
        generation,
        prepared: Arc::new(prepared),
        options,
        transcript: Some(transcript),
        report: RunReport::default(),
        staged: None,
    }))
}

/// Writes the summary, or lets the engine write it. A run without a result is forgotten.
pub(super) async fn write(service: &Arc<CompressionService>, mut run: Run, started: RunGuard) {
    if !run.prepared.needs_summary() {
        service.publish_phase(&run.session, Phase::Summarise);
        let policy = Arc::clone(&service.policy);
        let done =
            blocking("context.compact_ahead", move || Ok(run.write_summary(&policy).map(|text| Ready { run, text })));
        if let Ok(Some(ready)) = done.await {
            started.ready(ready);
        }
        return;
    }
    if let Ok(Step::Written(text)) = (Writing { service, run: &mut run }).write().await
        && (text.by == run.options.chain.configured() || run.options.chain.kinds().contains(&text.by))
    {
        started.ready(Ready { run, text });
    }
}
