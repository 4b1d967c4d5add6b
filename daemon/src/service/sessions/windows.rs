//! The windows of models that providers named in their errors.

use super::SessionService;
use crate::data::error::Outcome;
use crate::service::settings::SessionSettings;

impl SessionService {
    /// Remembers a window that an error named, for the model of these settings at its endpoint.
    pub(crate) async fn remember_window(&self, settings: SessionSettings, tokens: u64) -> Outcome<()> {
        let Some(model) = settings.model else { return Ok(()) };
        self.archive.keep_window(model, settings.base_url.unwrap_or_default(), tokens).await
    }

    /// Returns the new settings of a session. If `named` is `None`, and the session has no window or gets another model
    /// or endpoint, the settings get the window that a provider reported.
    pub(super) async fn with_window(
        &self,
        before: &SessionSettings,
        named: Option<u64>,
        mut after: SessionSettings,
    ) -> Outcome<SessionSettings> {
        let is_same = before.model == after.model && before.base_url == after.base_url;
        if named.is_none() && !(is_same && after.context_length.is_some()) {
            after.context_length = self.remembered_window(&after).await?.or(after.context_length);
        }
        Ok(after)
    }

    async fn remembered_window(&self, settings: &SessionSettings) -> Outcome<Option<u64>> {
        let Some(model) = settings.model.clone() else { return Ok(None) };
        self.archive.window(model, settings.base_url.clone().unwrap_or_default()).await
    }
}
