//! Interprets a provider's error, and remembers the window that it names.

use herma_context::provider_error::{self, Classified};

use super::ContextService;
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::settings::SessionSettings;

/// The longest text that is read without leaving the task, in bytes.
const SHORT: usize = 16 << 10;

impl ContextService {
    /// Classifies an error. If its text names a window smaller than the session's, that window is remembered for the
    /// session's model at its endpoint. Without `current`, the session's window counts as the caller's assumption.
    pub(crate) async fn classify_error(
        &self,
        caller: &Caller,
        session: Option<&str>,
        text: String,
        status: Option<u16>,
        current: Option<u64>,
    ) -> Outcome<Classified> {
        let settings = match session {
            Some(id) => self.sessions.inspected(caller, id).await?.settings(),
            None => SessionSettings::default(),
        };
        let current = current.or(settings.context_length);
        let found = if text.len() <= SHORT {
            provider_error::classify(&text, status, current)
        } else {
            blocking("context.classify_error", move || Ok(provider_error::classify(&text, status, current))).await?
        };
        let known = settings.context_length.or(current);
        if let Some(named) = found.context_limit
            && known.is_none_or(|known| named < known)
        {
            self.sessions.remember_window(settings, named).await?;
        }
        Ok(found)
    }
}
