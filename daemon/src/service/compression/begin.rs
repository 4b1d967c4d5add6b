//! The first phase, which decides which messages of a list to replace, and how.

use std::ops::Range;
use std::sync::Arc;

use herma_context::engine::Rejection;
use herma_context::forms::{self, Translation};
use herma_context::{Message, Settings};

use super::commit::handle;
use super::precomputed::{self, Continued, More, Ready};
use super::run::{Committed, Run, RunOptions, RunReport, WrittenSummary};
use super::{CompressionService, list};
use crate::data::config::CompressionMode;
use crate::data::error::{Error, Outcome};
use crate::data::event::Phase;
use crate::owners::archive::{CompressionStart, KnownTranscript, StagedCompression};
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The size of messages below which it is not worth storing them while the summary is written, in bytes.
const LEAST_BYTES: usize = 256 << 10;

/// The result of the first phase.
pub(super) enum Begun {
    /// There is too little or nothing to compress.
    Rejection { why: Rejection, input: Arc<[Message]>, translation: Option<Arc<Translation>> },
    /// The run needs a summary.
    Lacking(Box<Run>),
    /// A summary from a run in advance fits, because the list only grew since; or the run needs none.
    Ready(Box<Run>, WrittenSummary),
}

/// Gets the list, or the transcript if none is given, and decides which messages to replace.
pub(super) async fn begin(
    service: &Arc<CompressionService>,
    session: &Arc<Session>,
    settings: Settings,
    given: Option<Vec<String>>,
    options: RunOptions,
) -> Outcome<Begun> {
    service.publish_phase(session, Phase::Prune);
    let mut options = options;
    service.tell_nodes(session, &settings, &mut options.request).await?;
    let state = session.record().engine.clone();
    let generation = session.generation();
    let Source { list, transcript, translation } =
        source(service, session, generation, given, &settings, &options).await?;
    if let Some(translation) = translation {
        options.request.range = options.request.range.map(|range| translation.messages_within(range));
        options.translation = Some(translation);
    }
    let (service, session) = (Arc::clone(service), Arc::clone(session));
    blocking("context.compress", move || {
        let comes_soon = options.chain.is_at_hand() || settings.engine.needs_no_summarizer();
        let is_at_hand = comes_soon && options.mode == CompressionMode::InPlace;
        let (early, declined) = (Arc::clone(&session), options.translation.clone());
        let run = |prepared, options, report, staged| {
            let prepared = Arc::new(prepared);
            Box::new(Run { session, generation, prepared, options, transcript, report, staged })
        };
        let texts = match list {
            List::Fresh(texts) => texts,
            List::Ahead(ready, more) => match precomputed::continued(*ready, more, &state, &options.request) {
                Continued::Fits { prepared, text, report } => {
                    return Ok(Begun::Ready(run(*prepared, options, report, None), text));
                }
                Continued::Differs(texts) => texts,
            },
        };
        let messages = list::parse(texts);
        let mut staged = None;
        let leaving = |middle: Range<usize>| {
            if let Some(leaving) = messages.get(middle.clone()).filter(|_| is_at_hand) {
                staged = stage(&service, &early, generation, middle.start, leaving);
            }
        };
        Ok(match settings.engine.prepare(&messages, &settings, &state, &options.request, leaving) {
            Err(why) => Begun::Rejection { why, input: messages.into(), translation: declined },
            Ok(prepared) if !prepared.needs_summary() => {
                let mut run = run(prepared, options, RunReport::default(), staged);
                let text = run.write_summary(&service.policy).ok_or_else(|| Error::internal("context.compress"))?;
                Begun::Ready(run, text)
            }
            Ok(prepared) => Begun::Lacking(run(prepared, options, RunReport::default(), staged)),
        })
    })
    .await
}

/// The input of a run.
struct Source {
    list: List,
    /// The transcript from which the list was read, if it was.
    transcript: Option<KnownTranscript>,
    /// The translation of the transcript, if it needed one.
    translation: Option<Arc<Translation>>,
}

enum List {
    /// There is no run in advance for the list.
    Fresh(Vec<String>),
    /// There is a run in advance.
    Ahead(Box<Ready>, More),
}

/// Gets the list, and a run in advance for it. If the run was made from the transcript, reads only the messages after
/// that.
async fn source(
    service: &CompressionService,
    session: &Session,
    generation: u64,
    given: Option<Vec<String>>,
    settings: &Settings,
    options: &RunOptions,
) -> Outcome<Source> {
    let precomputed = &service.prepared.precomputed;
    if given.is_none() {
        precomputed.finished(&session.id, generation, settings, options).await;
    }
    let Some(ready) = precomputed.take(&session.id, generation, settings, options) else {
        let list::List { messages, transcript, translation } = service.list(session, given).await?;
        return Ok(Source { list: List::Fresh(messages), transcript, translation });
    };
    if given.is_none()
        && let Some((known, length)) = ready.transcript()
        && let Some(beyond) = service.archive.transcript_from(session.id.clone(), known, length).await?
        && forms::are_chat(&beyond)
    {
        let (list, transcript) = (List::Ahead(ready, More::Beyond(beyond)), Some(known));
        return Ok(Source { list, transcript, translation: None });
    }
    let list::List { messages, transcript, translation } = service.list(session, given).await?;
    Ok(Source { list: List::Ahead(ready, More::Whole(messages)), transcript, translation })
}

/// Lets the archive begin with messages that leave the list in any case, if that is worth it. The summary comes soon,
/// because it needs no other party. By then most of the work is done.
fn stage(
    service: &CompressionService,
    session: &Session,
    generation: u64,
    first: usize,
    messages: &[Message],
) -> Option<StagedCompression<Committed>> {
    let bytes: usize = messages.iter().map(|message| message.raw().len()).sum();
    (bytes >= LEAST_BYTES).then(|| {
        service.archive.begin_compression(CompressionStart {
            session: session.id.clone(),
            handle: handle(session, generation),
            generation: generation + 1,
            first,
            messages: messages.to_vec(),
        })
    })
}
