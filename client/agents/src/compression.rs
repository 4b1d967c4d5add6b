//! A compression of a session that the daemon has the messages of, as the compaction of an agent.

use herma_client::Client as Daemon;
use herma_client::protocol::context::{CompressParams, ConfigureParams, Host};
use herma_client::protocol::value::{TextOrOff, TokensOrConfigured};
use serde_json::Value;

/// The context length of a model in tokens, if it is unknown.
pub(crate) const WINDOW: u64 = 200_000;

/// What to compress, and how.
#[derive(Debug)]
pub(crate) struct Compaction<'a> {
    pub(crate) session: &'a str,
    /// The context length of the model in tokens.
    pub(crate) window: u64,
    /// What the user wants to be kept.
    pub(crate) focus: Option<String>,
    /// Whether calls may have shorter arguments than before.
    pub(crate) takes_short_calls: bool,
}

/// A session's compressed list, and the place of the next message.
#[derive(Debug)]
pub(crate) struct CompressedList {
    pub(crate) list: Vec<Value>,
    pub(crate) generation: u64,
    pub(crate) position: u64,
}

impl Compaction<'_> {
    /// Compresses the session. Returns the reason if its list would not get shorter.
    ///
    /// # Errors
    /// The daemon answers with an error.
    pub(crate) fn carry_out(self, daemon: &mut Daemon) -> Result<Result<CompressedList, String>, String> {
        let Self { session, window, focus, takes_short_calls } = self;
        // No message is protected. After a compaction the agents send system prompt and tools again, and the handoff
        // quotes the user's first words.
        let settings = ConfigureParams {
            session: session.to_owned(),
            context_length: Some(window),
            protect_first_n: Some(0),
            ..ConfigureParams::default()
        };
        daemon.context_configure(settings).map_err(|error| error.to_string())?;
        let params = CompressParams {
            session: session.to_owned(),
            focus: focus.map(TextOrOff::Text),
            force: Some(true),
            summarizer: Some("extractive".into()),
            target: Some(TokensOrConfigured::Configured),
            host: Some(Host { merged_handoff: Some(false), short_calls: Some(takes_short_calls), ..Host::default() }),
            ..CompressParams::default()
        };
        let result = daemon.context_compress(params).map_err(|error| error.to_string())?;
        let Some(result) = result.compressed() else { return Ok(Err("the daemon compressed nothing".into())) };
        if !result.report.compressed {
            return Ok(Err(result.report.reason.unwrap_or_else(|| "the daemon gave no reason".to_owned())));
        }
        let messages = result.messages.unwrap_or_default();
        Ok(Ok(CompressedList {
            list: messages.iter().filter_map(|message| serde_json::from_str(message.get()).ok()).collect(),
            generation: result.report.generation,
            position: result.report.messages_after,
        }))
    }
}
