//! `herma session open`, `snapshot`, `refresh`, `close`.

use herma_client::protocol::session::{CloseParams, OpenParams, OpenResult, RefreshParams, Snapshot, SnapshotParams};
use serde_json::json;

use crate::cli::exit::Failure;
use crate::cli::{Session, out};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma session open my-session --agent coder --context-length 200000")]
pub(in crate::cli) struct Open {
    /// The session's id
    session: String,
    /// Which agent
    #[arg(long)]
    agent: Option<String>,
    /// The session that this one came out of
    #[arg(long)]
    parent: Option<String>,
    /// A title
    #[arg(long)]
    title: Option<String>,
    /// The model in use
    #[arg(long)]
    model: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS")]
    context_length: Option<u64>,
    /// Bring nothing that is said in it, and none of its outputs, to other hosts
    #[arg(long)]
    host_bound: bool,
}

// A session and nothing else.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Named {
    /// The session's id
    pub(super) session: String,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Close {
    /// The session's id
    session: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

pub(super) fn open(session: &Session<'_>, arguments: &Open) -> Result<(), Failure> {
    let result = session.connect()?.session_open(OpenParams {
        session: arguments.session.clone(),
        agent: arguments.agent.clone(),
        parent: arguments.parent.clone(),
        title: arguments.title.clone(),
        model: arguments.model.clone(),
        context_length: arguments.context_length,
        host_bound: arguments.host_bound.then_some(true),
    })?;
    out::show(session.common, &result, opened)
}

pub(super) fn snapshot(session: &Session<'_>, named: &Named) -> Result<(), Failure> {
    let result = session.connect()?.session_snapshot(SnapshotParams { session: named.session.clone() })?;
    out::show(session.common, &result, blocks)
}

pub(super) fn refresh(session: &Session<'_>, named: &Named) -> Result<(), Failure> {
    let result = session.connect()?.session_refresh(RefreshParams { session: named.session.clone() })?;
    out::show(session.common, &result, blocks)
}

pub(super) fn close(session: &Session<'_>, arguments: &Close) -> Result<(), Failure> {
    let params = CloseParams { session: arguments.session.clone(), reason: arguments.reason.clone() };
    session.connect()?.session_close(params)?;
    out::show(session.common, &json!({}), |_| format!("closed {}", arguments.session))
}

fn opened(result: &OpenResult) -> String {
    let how = if result.resumed { "resumed" } else { "opened" };
    let from = result.moved_from.as_ref().map(|host| format!(" from host {host}")).unwrap_or_default();
    format!(
        "{how} {}{from}, generation {}, snapshot {}\n\n{}",
        result.session,
        result.generation,
        result.snapshot.sha256,
        blocks(&result.snapshot)
    )
}

fn blocks(snapshot: &Snapshot) -> String {
    let blocks: Vec<&str> = [&snapshot.memory, &snapshot.user].into_iter().flatten().map(String::as_str).collect();
    if blocks.is_empty() { "(both stores were empty)".into() } else { blocks.join("\n\n") }
}
