//! What a provider's error says, and the window that it names.

use herma_context::provider_error::{self, Classified};

use super::ContextService;
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::settings::SessionSettings;

/// Texts up to this many bytes are read without leaving the task.
const SHORT: usize = 16 << 10;

impl ContextService {
    /// Understands an error. A window that its text names and that is smaller than the session's
    /// is remembered for the session's model at its endpoint; without a `current` the session's
    /// window is what the caller believes in.
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
