//! `herma context status`, and the parts of a session's state that other commands show.

use std::collections::BTreeMap;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::{Breaker, StatusParams, StatusResult};
use herma_client::protocol::recall::{DescribeParams, Node};
use herma_client::protocol::session::usage::{Totals, UsageParams};
use herma_client::{Client, ClientError};
use serde::Serialize;

use crate::names;

/// The state of a session.
#[derive(Debug, Serialize)]
struct SessionState {
    #[serde(flatten)]
    status: StatusResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Map>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<Cache>,
}

/// The summary nodes that replace removed messages in a session's list, if its engine makes a map.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Map {
    /// The nodes in the list.
    parts: usize,
    /// The most times that four nodes became one.
    depth: u32,
    /// The messages that the nodes replace.
    messages: u64,
    /// The tokens of those messages.
    tokens: u64,
    /// The number of nodes that each summarizer wrote.
    writers: BTreeMap<String, usize>,
}

/// The prompt cache use of a session's model calls.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Cache {
    /// The number of reported calls.
    calls: u64,
    /// The tokens of their prompts.
    prompt_tokens: u64,
    /// The tokens read from the cache.
    read_tokens: u64,
    /// The tokens written to the cache.
    written_tokens: u64,
    /// The percentage of prompt tokens read from the cache.
    read_percent: f64,
}

pub(super) fn run(context: &CliContext<'_>, id: &str) -> Result<(), Failure> {
    let (mut client, id) = names::session::connect(context, id)?;
    let id = id.as_str();
    let status = client.context_status(StatusParams { session: id.to_owned() })?;
    let shown = SessionState { status, map: map(&mut client, id)?, cache: cache(&mut client, id)? };
    out::show(context.common, &shown, |shown| {
        let mut rows = engine(&shown.status);
        rows.extend(shown.map.as_ref().map(|map| ("map", map.describe())));
        rows.extend(shown.cache.as_ref().map(|cache| ("prompt cache", cache.describe())));
        out::columns(&rows)
    })
}

/// Returns the map of a session, or `None` if it has none or the archive can't be read.
pub(crate) fn map(client: &mut Client, id: &str) -> Result<Option<Map>, ClientError> {
    let described = kept(client.recall_describe(DescribeParams { session: id.to_owned() }))?;
    Ok(described.and_then(|described| Map::of(&described.map)))
}

/// Returns the cache use of a session's calls, or `None` if no call was reported or the archive can't be read.
pub(crate) fn cache(client: &mut Client, id: &str) -> Result<Option<Cache>, ClientError> {
    let params = UsageParams { session: Some(id.to_owned()), ..UsageParams::default() };
    Ok(kept(client.session_usage(params))?.and_then(|used| Cache::of(&used.total)))
}

/// Returns the answer of the archive. An error of the daemon becomes `None`, because the archive may lack the session
/// or be unavailable.
fn kept<T>(answer: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(ClientError::Rpc(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Map {
    pub(crate) fn of(nodes: &[Node]) -> Option<Self> {
        let (first, last) = nodes.first().zip(nodes.last())?;
        let mut writers = BTreeMap::new();
        for node in nodes {
            *writers.entry(node.writer.clone()).or_default() += 1;
        }
        Some(Self {
            parts: nodes.len(),
            depth: nodes.iter().map(|node| node.depth).max().unwrap_or(0),
            messages: last.next.saturating_sub(first.first),
            tokens: nodes.iter().map(|node| node.tokens).sum(),
            writers,
        })
    }

    pub(crate) fn describe(&self) -> String {
        let writers: Vec<String> = self.writers.iter().map(|(writer, count)| format!("{count} by {writer}")).collect();
        format!(
            "{} parts, up to {} levels deep, for {} messages of {} tokens; {}",
            self.parts,
            self.depth + 1,
            out::thousands(self.messages),
            out::thousands(self.tokens),
            writers.join(", ")
        )
    }
}

impl Cache {
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    fn of(used: &Totals) -> Option<Self> {
        (used.calls > 0 && used.prompt > 0).then(|| Self {
            calls: used.calls,
            prompt_tokens: used.prompt,
            read_tokens: used.cache_read,
            written_tokens: used.cache_write,
            read_percent: used.cache_read as f64 * 100.0 / used.prompt as f64,
        })
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "{:.0} % of {} prompt tokens were read from it, in {}",
            self.read_percent,
            out::thousands(self.prompt_tokens),
            out::count_of(self.calls, "call")
        )
    }
}

fn engine(result: &StatusResult) -> Vec<(&'static str, String)> {
    let tokens = |count: u64| format!("{} tokens", out::thousands(count));
    let prompt = u64::try_from(result.last_prompt_tokens).map_or_else(
        |_| "not known since the last compression".to_owned(),
        |prompt| format!("{}, {:.0} % of the window", tokens(prompt), result.usage_percent),
    );
    let breaker = match result.breaker {
        Breaker::Closed => "allowed".to_owned(),
        Breaker::HalfOpen => "one run may try, after weak ones".to_owned(),
        Breaker::Open => format!("not for {:.0} s: the last runs saved too little", result.wait_s),
    };
    let mut rows = vec![
        ("engine", result.engine.clone()),
        ("model", if result.model.is_empty() { "not known".to_owned() } else { result.model.clone() }),
        ("window", tokens(result.context_length)),
        ("last prompt", prompt),
        ("compresses at", tokens(result.threshold_tokens)),
        ("tail", tokens(result.tail_token_budget)),
        ("summary", format!("up to {}", tokens(result.max_summary_tokens))),
        ("compressions", result.compression_count.to_string()),
        ("generation", result.generation.to_string()),
        ("saved last", format!("{:.0} %", result.savings_pct)),
        ("automatic runs", breaker),
    ];
    if result.cooldown_s > 0.0 {
        rows.push(("summarizer", format!("failed a moment ago; asked again in {:.0} s", result.cooldown_s)));
    }
    rows.extend(result.last_error.iter().map(|error| ("last failure", error.clone())));
    rows
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_map_is_told_in_one_line() {
        let node = |depth: u32, first: u64, next: u64, writer: &str| Node {
            depth,
            first,
            next,
            tokens: 20_000,
            writer: writer.into(),
            ..Node::default()
        };
        assert_eq!(Map::of(&[]), None);
        let nodes = [node(1, 3, 403, "openai"), node(0, 403, 503, "extractive"), node(0, 503, 1_503, "extractive")];
        assert_eq!(
            Map::of(&nodes).unwrap().describe(),
            "3 parts, up to 2 levels deep, for 1,500 messages of 60,000 tokens; 2 by extractive, 1 by openai"
        );
    }

    #[test]
    fn the_cache_is_told_where_calls_were() {
        assert_eq!(Cache::of(&Totals::default()), None);
        let used = Totals { calls: 12, prompt: 400_000, cache_read: 312_000, ..Totals::default() };
        assert_eq!(
            Cache::of(&used).unwrap().describe(),
            "78 % of 400,000 prompt tokens were read from it, in 12 calls"
        );
    }
}
