//! Previews of compressions, which change nothing.

use std::sync::Arc;

use herma_context::engine::{CompressRequest, Compressed, EngineState, Summary, Writer};
use herma_context::forms::{Read, Translation};
use herma_context::{Detail, Message, Settings};

use super::commit::handle;
use super::{CompressionService, SentList, parse};
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The handle of the archived messages in the preview of a list without a session.
const NO_SESSION: &str = "cmp_preview";

/// The input of a preview.
#[derive(Debug)]
pub(crate) struct PreviewRequest {
    /// The list, as JSON texts.
    pub messages: Vec<String>,
    /// The translation of the list, if it needed one.
    pub translation: Option<Arc<Translation>>,
    /// The request for the engine. The rules are added from the session.
    pub request: CompressRequest,
    /// The body of the previous summary; `None` for that of the session.
    pub previous_summary: Option<String>,
    /// The detail of the handoff.
    pub detail: Detail,
}

/// The result of a preview.
#[derive(Debug)]
pub(crate) struct Preview {
    /// The list.
    pub sent: SentList,
    /// The list after the compression, or why it would be returned unchanged.
    pub outcome: Result<Compressed, String>,
}

impl CompressionService {
    /// Compresses a list with herma's own summarizer, whatever the session's summarizer is, so a preview needs no call
    /// of a model. An output that would be replaced by a preview of a file is cut instead, because no file is created.
    pub(crate) async fn preview(
        self: &Arc<Self>,
        session: Option<&Session>,
        settings: Settings,
        wanted: PreviewRequest,
    ) -> Outcome<Preview> {
        let PreviewRequest { messages, translation, mut request, previous_summary, detail } = wanted;
        let mut list = Read { messages, translation };
        if let Some(session) = session {
            // A preview must not change the session.
            list = list.in_known_form(&session.record().form.clone());
        }
        let Read { messages, translation } = list;
        let settings = settings.detailed(detail);
        let (mut state, mut name) = (EngineState::default(), NO_SESSION.to_owned());
        let (mut given, mut opened) = (Some(messages), None);
        if let Some(session) = session {
            opened = self.open_list(session, &mut given).await?;
            if let Some(open) = &opened {
                request.range = request.range.map(|range| open.range_without(range));
            }
            request.constraints = self.rules(session).await?;
            request.wishes = self.wishes(session).await?;
            state = session.record().engine.clone();
            name = handle(session, session.generation());
            self.tell_nodes(session, &settings, &mut request).await?;
        }
        if previous_summary.is_some() {
            state.previous_summary = previous_summary;
        }
        let policy = Arc::clone(&self.policy);
        blocking("context.plan", move || {
            let input: Arc<[Message]> = parse(given.unwrap_or_default()).into();
            let outcome = match settings.engine.prepare(&input, &settings, &state, &request, drop) {
                Err(why) => Err(why.to_string()),
                Ok(mut prepared) => {
                    prepared.write_summary(&policy);
                    let body = if prepared.needs_summary() {
                        prepared.repaired(prepared.extractive_summary(None), &policy).body
                    } else {
                        String::new()
                    };
                    let summary = Summary { body, writer: Writer::Extractive, ..Summary::default() };
                    Ok(prepared.finish(summary, name, &|_, _| None))
                }
            };
            Ok(Preview { sent: SentList::of(input, opened.as_deref(), translation), outcome })
        })
        .await
    }
}
