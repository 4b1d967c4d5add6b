//! Chooses the tools that a session's next prompts need.

use herma_context::Message;
use herma_context::tools::{self, Age, Chosen, Tool, Uses};

use super::ContextService;
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;

/// The size of the newest messages that are searched for calls, in bytes.
const BYTES: usize = 32 << 20;

/// A query for a session's tools.
#[derive(Debug)]
pub(crate) struct ToolsQuery {
    pub session: String,
    /// The schemas as they were given.
    pub tools: Vec<String>,
    /// The number of tokens that the list of tools may cost.
    pub budget: Option<u64>,
    /// Tools that are wanted, although no archived message used them yet.
    pub open: Vec<String>,
}

/// The tools with their uses, and the selection to send.
#[derive(Debug)]
pub(crate) struct ToolsAnswer {
    /// The tools as they were given.
    pub tools: Vec<Tool>,
    /// The number of calls of each tool.
    pub calls: Vec<u64>,
    pub chosen: Chosen,
}

impl ContextService {
    /// Chooses tools by the calls in the session's archived messages.
    pub(crate) async fn tools(&self, caller: &Caller, query: ToolsQuery) -> Outcome<ToolsAnswer> {
        let session = self.sessions.inspected(caller, &query.session).await?;
        let spoken =
            if self.archive.is_in_use() { self.archive.spoken(session.id.clone(), BYTES).await? } else { Vec::new() };
        blocking("context.tools", move || {
            let mut uses = Uses::default();
            for one in spoken {
                let age = Age { generations: one.generations, is_since: one.is_since };
                uses.add(&Message::of_json(one.body), age);
            }
            uses.open(&query.open);
            let tools: Vec<Tool> = query.tools.into_iter().map(Tool::read).collect();
            let calls = tools.iter().map(|tool| tool.name.as_deref().map_or(0, |name| uses.calls(name))).collect();
            let chosen = tools::choose(&tools, &uses, query.budget);
            Ok(ToolsAnswer { tools, calls, chosen })
        })
        .await
    }
}
