//! `herma session …`.

use clap::Subcommand;
use herma_client::protocol::session::{CloseParams, OpenParams, OpenResult, RefreshParams, Snapshot, SnapshotParams};
use serde_json::json;

use super::exit::Failure;
use super::out;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Open a session: freeze both stores for it, or resume it
    #[command(after_help = "Example:\n  herma session open my-session --agent coder --context-length 200000")]
    Open {
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
    },
    /// Print the blocks that were frozen for a session
    Snapshot {
        /// The session's id
        session: String,
    },
    /// Freeze both stores anew for a session, and print the blocks
    #[command(
        after_help = "The session sees what was written since it was opened; its prompt cache is lost.\n\nExample:\n  herma session refresh my-session"
    )]
    Refresh {
        /// The session's id
        session: String,
    },
    /// Close a session
    Close {
        /// The session's id
        session: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
}

pub(super) fn run(session: &super::Session<'_>, command: &Command) -> Result<(), Failure> {
    let mut client = session.connect()?;
    match command {
        Command::Open { session: id, agent, parent, title, model, context_length } => {
            let result = client.session_open(OpenParams {
                session: id.clone(),
                agent: agent.clone(),
                parent: parent.clone(),
                title: title.clone(),
                model: model.clone(),
                context_length: *context_length,
            })?;
            out::show(session.common, &result, opened)
        }
        Command::Snapshot { session: id } => {
            let result = client.session_snapshot(SnapshotParams { session: id.clone() })?;
            out::show(session.common, &result, blocks)
        }
        Command::Refresh { session: id } => {
            let result = client.session_refresh(RefreshParams { session: id.clone() })?;
            out::show(session.common, &result, blocks)
        }
        Command::Close { session: id, reason } => {
            client.session_close(CloseParams { session: id.clone(), reason: reason.clone() })?;
            out::show(session.common, &json!({}), |_| format!("closed {id}"))
        }
    }
}

fn opened(result: &OpenResult) -> String {
    let how = if result.resumed { "resumed" } else { "opened" };
    format!(
        "{how} {}, generation {}, snapshot {}\n\n{}",
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
