//! `context.classify_error`, and the windows that providers named.

use herma_context::provider_error::{self, Classified, Kind};
use herma_protocol::context::Settings;
use herma_protocol::context::provider_error::{ClassifyErrorParams, ClassifyErrorResult, ErrorClass};

use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::wire::caller::Caller;
use crate::wire::handler::{SHORT, blocking, session};
use crate::wire::state::State;

/// Understands an error. A window that its text names and that is smaller than the session's is
/// remembered for the session's model at its endpoint; without a `current` the session's window
/// is what the caller believes in.
pub(in crate::wire::handler) async fn classify_error(
    state: &State,
    caller: &Caller,
    params: ClassifyErrorParams,
) -> Outcome<ClassifyErrorResult> {
    let settings = match &params.session {
        Some(id) => session::ensure(state, caller, id).await?.settings(),
        None => Settings::default(),
    };
    let current = params.current.or(settings.context_length);
    let (text, status) = (params.text, params.status);
    let found = if text.len() <= SHORT {
        provider_error::classify(&text, status, current)
    } else {
        blocking("context.classify_error", move || Ok(provider_error::classify(&text, status, current))).await?
    };
    let known = settings.context_length.or(current);
    if let (Some(model), Some(named)) = (settings.model, found.context_limit)
        && known.is_none_or(|known| named < known)
    {
        let base_url = settings.base_url.unwrap_or_default();
        let keep =
            move |archive: &mut herma_archive::Archive| archive.keep_window(&model, &base_url, named, unix_now());
        state.archive.note(keep).await?;
    }
    Ok(wire(found))
}

/// The window that a provider named for the model and endpoint of these settings.
pub(in crate::wire::handler) async fn remembered_window(state: &State, settings: &Settings) -> Outcome<Option<u64>> {
    let Some(model) = settings.model.clone() else { return Ok(None) };
    if !state.archive.is_in_use() {
        return Ok(None);
    }
    let base_url = settings.base_url.clone().unwrap_or_default();
    state.archive.call(move |archive| archive.reader().window(&model, &base_url)).await
}

/// The new settings of a session, with the window that a provider named where the call names
/// none but the session has none yet, or has now another model or endpoint.
pub(in crate::wire::handler) async fn with_window(
    state: &State,
    before: &Settings,
    named: Option<u64>,
    mut after: Settings,
) -> Outcome<Settings> {
    let is_same = before.model == after.model && before.base_url == after.base_url;
    if named.is_none() && !(is_same && after.context_length.is_some()) {
        after.context_length = remembered_window(state, &after).await?.or(after.context_length);
    }
    Ok(after)
}

fn wire(found: Classified) -> ClassifyErrorResult {
    ClassifyErrorResult {
        kind: match found.kind {
            Kind::InputTooLong => ErrorClass::InputTooLong,
            Kind::OutputCap => ErrorClass::OutputCap,
            Kind::Other => ErrorClass::Other,
        },
        context_limit: found.context_limit,
        lower_limit: found.lower_limit,
        available_output: found.available_output,
        next_tier: found.next_tier,
    }
}
