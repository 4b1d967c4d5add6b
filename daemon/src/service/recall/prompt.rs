//! Finds what belongs to the first prompt of a session: only places of other sessions that fit the whole prompt.

use super::{Place, Places, RecallService};
use crate::data::error::Outcome;
use crate::owners::archive::RecallQuery;
use crate::service::caller::Caller;

/// How well a place fits a prompt at least. Measured in docs/design/agents.md.
const AT_PROMPT: f64 = 0.45;

impl RecallService {
    /// Returns the best places for the prompt with which `session` begins; none if the configuration turns that off.
    pub(crate) async fn search_for_prompt(
        &self,
        caller: &Caller,
        session: &str,
        query: RecallQuery,
        is_everywhere: bool,
    ) -> Outcome<Places> {
        if !self.at_prompt {
            return Ok(Places::default());
        }
        // What belongs to another profile has no place in a prompt.
        let profile = Some(self.sessions.inspected(caller, session).await?.profile.clone());
        let query = RecallQuery { profile, least_fit: AT_PROMPT, ..query };
        let mut found = self.search(query, is_everywhere).await?;
        let is_spoken = |place: &Place| matches!(place.hit.role.as_deref(), Some("user" | "assistant"));
        found.places.retain(|place| is_spoken(place) && place.hit.session.as_deref() != Some(session));
        Ok(found)
    }
}
