//! The usage of a call, as the provider reports it.

use std::sync::Arc;

use herma_archive::usage::Buckets;
use herma_context::pressure;
use herma_context::usage::{self, Usage};
use serde_json::Value;

use super::ContextService;
use crate::data::error::Outcome;
use crate::data::names;
use crate::owners::archive::Call;
use crate::service::caller::Caller;
use crate::service::compression::due::Prompt;
use crate::service::session::Session;

/// A provider's report of one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reported {
    /// The session that made the call.
    pub session: Option<String>,
    /// The usage object of the provider.
    pub usage: Value,
    /// The name of the provider.
    pub provider: Option<String>,
    /// The API that was used.
    pub api_mode: Option<String>,
    /// The model; `None` for the session's model.
    pub model: Option<String>,
}

/// The consequences of a report.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// The number of tokens of each kind.
    pub usage: Usage,
    /// Whether to compress before the next call; `None` without a window.
    pub should_compress: Option<bool>,
    /// The prompt as a fraction of the window.
    pub pressure: Option<f64>,
    /// A warning for the caller.
    pub warning: Option<String>,
}

impl ContextService {
    /// Stores a report.
    pub(crate) async fn record_usage(&self, caller: &Caller, reported: Reported) -> Outcome<Recorded> {
        let Reported { session, usage, provider, api_mode, model } = reported;
        names::check_all(&[
            ("session", session.as_ref()),
            ("provider", provider.as_ref()),
            ("api_mode", api_mode.as_ref()),
            ("model", model.as_ref()),
        ])?;
        let used = usage::normalise(&usage, provider.as_deref(), api_mode.as_deref());
        let mut recorded = Recorded { usage: used, should_compress: None, pressure: None, warning: None };
        let Some(id) = session else { return Ok(recorded) };
        let session = self.sessions.ensure(caller, &id).await?;
        let has_window = session.window().is_some();
        if has_window {
            self.follow(&session, &mut recorded)?;
        }
        let call = Call {
            session: session.id.clone(),
            model: model.or_else(|| session.settings().model),
            provider,
            buckets: buckets(&recorded.usage),
        };
        self.archive.record_usage(call, move || has_window.then(|| session.record().figures())).await?;
        Ok(recorded)
    }

    /// Updates the engine of a session. Without a window there is no threshold, so this fails.
    fn follow(&self, session: &Arc<Session>, recorded: &mut Recorded) -> Outcome<()> {
        let settings = session.settings().in_force(&self.defaults)?;
        let used = &recorded.usage;
        recorded.warning = {
            let mut record = session.record();
            record.counting.reported(used.prompt());
            if used.prompt() > 0 {
                record.streak.end();
            }
            record.engine.record_usage(used, &settings)
        };
        let last = session.record().engine.last_prompt();
        let prompt = last.map_or(Prompt::Unknown, Prompt::Counted);
        recorded.should_compress = Some(self.decided(session, &settings, prompt).compress);
        recorded.pressure = Some(pressure::pressure(recorded.usage.prompt(), settings.context_length));
        Ok(())
    }
}

fn buckets(used: &Usage) -> Buckets {
    Buckets {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        reasoning: used.reasoning,
    }
}
