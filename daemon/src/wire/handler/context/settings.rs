//! The settings of a session in a request.

use herma_protocol::context::Settings;

use crate::service::settings::SessionSettings;

/// Converts settings for the services.
pub(super) fn domain(said: Settings) -> SessionSettings {
    SessionSettings {
        model: said.model,
        context_length: said.context_length,
        threshold: said.threshold,
        target_ratio: said.target_ratio,
        protect_first_n: said.protect_first_n,
        protect_last_n: said.protect_last_n,
        summary_model: said.summary_model,
        provider: said.provider,
        base_url: said.base_url,
        api_mode: said.api_mode,
        abort_on_summary_failure: said.abort_on_summary_failure,
        engine: said.engine,
        summarizer: said.summarizer,
        redact: said.redact,
        ..SessionSettings::default()
    }
}
