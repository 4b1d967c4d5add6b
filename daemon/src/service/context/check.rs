//! Checks whether a session should be compressed before its next call.

use std::sync::Arc;

use herma_context::{Message, Settings, pressure, tokens};

use super::ContextService;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::compression::due::{self, Due, Prompt};
use crate::service::compression::parse;
use crate::service::session::Session;

/// The parts of the next prompt, if the caller has not counted it.
#[derive(Debug, Clone)]
pub(crate) struct Weight {
    /// The list, as JSON texts.
    pub messages: Vec<String>,
    /// The system prompt, in addition to the list.
    pub system_prompt: String,
    /// The tools, in addition to the list, as one JSON text.
    pub tools: Option<String>,
}

/// The estimated size of a prompt.
struct Estimate {
    own: u64,
    rough: u64,
    has_content: bool,
    messages: usize,
}

impl ContextService {
    /// Decides with the caller's count, else with the provider's last count.
    pub(crate) async fn check(&self, caller: &Caller, id: &str, tokens: Option<u64>) -> Outcome<Due> {
        self.check_counted(&self.sessions.opened(caller, id).await?, tokens)
    }

    /// Decides in the same way for a loaded session.
    pub(crate) fn check_counted(&self, session: &Arc<Session>, tokens: Option<u64>) -> Outcome<Due> {
        let settings = session.settings().in_force(&self.defaults)?;
        let last = || session.record().engine.last_prompt();
        let prompt = tokens.or_else(last).map_or(Prompt::Unknown, Prompt::Counted);
        Ok(self.decided(session, &settings, prompt))
    }

    /// Decides with an estimate of the next prompt.
    pub(crate) async fn check_estimated(&self, caller: &Caller, id: &str, weight: Weight) -> Outcome<Due> {
        let session = self.sessions.opened(caller, id).await?;
        let settings = session.settings().in_force(&self.defaults)?;
        let (used, most) = (settings.clone(), self.defaults.context.hygiene_messages);
        let estimate = blocking("context.check", move || Ok(estimate(weight, &used, most))).await?;
        let Estimate { own, rough, has_content, messages } = estimate;
        let tokens = session.record().counting.estimated(own);
        let due = self.decided(&session, &settings, Prompt::Estimated { tokens, rough, has_content, messages });
        session.post_record(&self.archive);
        Ok(due)
    }

    pub(super) fn decided(&self, session: &Arc<Session>, settings: &Settings, prompt: Prompt) -> Due {
        let chain = self.compression.summarizers_of(session, None);
        let due = {
            let mut record = session.record();
            due::due(&self.defaults.context, settings, &chain, &mut record, prompt, unix_now())
        };
        self.compression.begin_ahead_if_near(session, settings, &due);
        due
    }
}

/// `long` is the number of messages from which a list is compressed regardless of its tokens; 0 for none.
fn estimate(weight: Weight, settings: &Settings, long: usize) -> Estimate {
    let Weight { messages, system_prompt, tools } = weight;
    let messages = parse(messages);
    let own_tools = tools.as_deref().map_or(0, tokens::own_estimate_text);
    let own = tokens::own_estimate_messages(&messages) + tokens::own_estimate_text(&system_prompt) + own_tools;
    let rough = tokens::estimate_request(Some(&system_prompt), &messages, tools.as_deref());
    let has_content = has_content(&messages, settings, own.max(rough), long);
    Estimate { own, rough, has_content, messages: messages.len() }
}

/// Whether a compression would change anything. A list over the threshold can become smaller even without messages
/// between its head and its tail.
fn has_content(messages: &[Message], settings: &Settings, tokens: u64, long: usize) -> bool {
    let is_long = long > 0 && pressure::hygiene(tokens, messages.len(), settings.context_length, long).is_some();
    if is_long || tokens >= settings.budgets().threshold_tokens {
        settings.engine.has_work(messages, settings, i64::try_from(tokens).ok())
    } else {
        settings.engine.has_content(messages, settings)
    }
}
