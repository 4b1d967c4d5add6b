//! `context.record_usage`.

use herma_archive::Archive;
use herma_archive::usage::{Buckets as Row, UsageRow};
use herma_context::pressure;
use herma_context::usage::{self, Usage};
use herma_protocol::context::usage::{Buckets, RecordUsageParams, RecordUsageResult};
use serde_json::Value;

use super::check::decided;
use super::session_settings;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::service::compression::due::Prompt;
use crate::wire::caller::Caller;
use crate::wire::handler::{check_names, session};
use crate::wire::state::State;

pub(in crate::wire::handler) async fn record_usage(
    state: &State,
    caller: &Caller,
    params: RecordUsageParams,
) -> Outcome<RecordUsageResult> {
    check_names(&[
        ("session", params.session.as_ref()),
        ("provider", params.provider.as_ref()),
        ("api_mode", params.api_mode.as_ref()),
        ("model", params.model.as_ref()),
    ])?;
    let reported: Value =
        params.usage.as_ref().and_then(|usage| serde_json::from_str(usage.get()).ok()).unwrap_or_default();
    let used = usage::normalise(&reported, params.provider.as_deref(), params.api_mode.as_deref());
    let mut result = RecordUsageResult { usage: buckets(&used), ..RecordUsageResult::default() };
    let Some(id) = &params.session else { return Ok(result) };
    let session = session::ensure(state, caller, id).await?;
    let model = params.model.or_else(|| session.settings().model);
    // A session without a window has no threshold.
    let settings = match session.settings().context_length {
        Some(_) => Some(session_settings(&session, &state.config)?),
        None => None,
    };
    if let Some(settings) = &settings {
        result.warning = {
            let mut kept = session.kept();
            kept.counting.reported(used.prompt());
            if used.prompt() > 0 {
                kept.streak.end();
            }
            kept.engine.record_usage(&used, settings)
        };
        let last = session.kept().engine.last_prompt_tokens;
        let prompt = u64::try_from(last).map_or(Prompt::Unknown, Prompt::Counted);
        result.should_compress = Some(decided(state, &session, settings, prompt).compress);
        result.pressure = Some(pressure::pressure(used.prompt(), settings.context_length));
    }
    let (provider, row) = (params.provider, archived(&used));
    let note = move |archive: &mut Archive| {
        let figures = settings.is_some().then(|| session.kept().figures());
        archive.together(|archive| {
            archive.record_usage(&UsageRow {
                session: Some(&session.id),
                time: unix_now(),
                model: model.as_deref(),
                agent: None,
                provider: provider.as_deref(),
                buckets: row,
            })?;
            figures.map_or(Ok(()), |figures| archive.save_engine_state(&session.id, &figures))
        })
    };
    state.archive.note(note).await?;
    Ok(result)
}

fn buckets(used: &Usage) -> Buckets {
    Buckets {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        reasoning: used.reasoning,
        request_count: used.request_count,
        prompt: used.prompt(),
        total: used.total(),
    }
}

fn archived(used: &Usage) -> Row {
    Row {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        reasoning: used.reasoning,
    }
}
