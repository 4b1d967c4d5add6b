//! `herma session open`, `snapshot`, `refresh`, `close`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::session::{
    CloseParams, OpenParams, OpenResult, RefreshParams, Snapshot, SnapshotParams, UpdateParams,
};
use serde_json::json;

use crate::names;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma session open my-session --agent coder --context-length 200000")]
pub(crate) struct Open {
    /// The session's id
    session: String,
    /// The name of the agent
    #[arg(long)]
    agent: Option<String>,
    /// The parent of the session
    #[arg(long)]
    parent: Option<String>,
    #[command(flatten)]
    facts: Facts,
    /// Share no messages and outputs of the session with other hosts
    #[arg(long)]
    host_bound: bool,
    /// Keep no secrets and no private parts of its messages and outputs, as of those that hooks read
    #[arg(long)]
    captured: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is left out stays. A closed session stays closed.\n\nExample:\n  herma session update my-session --title \"The retry in the sync\""
)]
pub(crate) struct Update {
    /// The session's id
    session: String,
    #[command(flatten)]
    facts: Facts,
}

// What a session works on, and with which model.
#[derive(Debug, Clone, clap::Args)]
struct Facts {
    /// The title of the session
    #[arg(long)]
    title: Option<String>,
    /// The model in use
    #[arg(long)]
    model: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS")]
    context_length: Option<u64>,
    /// The folder that the agent works in
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,
    /// The branch of the folder's repository
    #[arg(long)]
    branch: Option<String>,
}

// The id of a session and nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The session's id
    pub(super) session: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Close {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
}

pub(super) fn open(context: &CliContext<'_>, arguments: &Open) -> Result<(), Failure> {
    let Facts { title, model, context_length, cwd, branch } = arguments.facts.clone();
    let (mut client, session) = names::session::connect_new(context, &arguments.session)?;
    let parent = arguments.parent.as_deref().map(|named| names::session::literal(&mut client, named)).transpose()?;
    let result = client.session_open(OpenParams {
        session,
        agent: arguments.agent.clone(),
        parent,
        title,
        model,
        context_length,
        host_bound: arguments.host_bound.then_some(true),
        cwd,
        branch,
        captured: arguments.captured.then_some(true),
    })?;
    out::show(context.common, &result, opened)
}

pub(super) fn update(context: &CliContext<'_>, arguments: &Update) -> Result<(), Failure> {
    let Facts { title, model, context_length, cwd, branch } = arguments.facts.clone();
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    client.session_update(UpdateParams { session: session.clone(), title, model, context_length, cwd, branch })?;
    out::show(context.common, &json!({}), |_| format!("updated {session}"))
}

pub(super) fn snapshot(context: &CliContext<'_>, named: &Named) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &named.session)?;
    let result = client.session_snapshot(SnapshotParams { session })?;
    out::show(context.common, &result, blocks)
}

pub(super) fn refresh(context: &CliContext<'_>, named: &Named) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &named.session)?;
    let result = client.session_refresh(RefreshParams { session })?;
    out::show(context.common, &result, blocks)
}

pub(super) fn close(context: &CliContext<'_>, arguments: &Close) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    client.session_close(CloseParams { session: session.clone(), reason: arguments.reason.clone() })?;
    out::show(context.common, &json!({}), |_| format!("closed {session}"))
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
