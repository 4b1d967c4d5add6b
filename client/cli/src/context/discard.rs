//! `herma context discard`.

use clap::Args;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::discard::{DiscardParams, DiscardResult};

use crate::names;

// Outputs that the agent no longer needs.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing changes at once: the next compression leaves a line of each, and keeps the whole in the archive.\n\nExamples:\n  herma context discard my-session --position 14 --position 18\n  herma context discard my-session --handle out_1f2e… --reason \"the logs are read\"\n  herma context discard my-session --call src/pool.rs"
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// The position of an output, or of a call with its outputs, among the messages appended to the session
    #[arg(long = "position", value_name = "N", required_unless_present_any = ["handles", "calls"])]
    positions: Vec<u64>,
    /// Outputs that name this handle
    #[arg(long = "handle", value_name = "HANDLE")]
    handles: Vec<String>,
    /// Outputs of calls that contain this text: a path, a command
    #[arg(long = "call", value_name = "TEXT")]
    calls: Vec<String>,
    /// The reason, up to 200 chars
    #[arg(long)]
    reason: Option<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let handles = arguments.handles.iter().map(|named| names::output::resolve(&mut client, named));
    let params = DiscardParams {
        session,
        positions: Some(arguments.positions.clone()),
        handles: Some(handles.collect::<Result<_, _>>()?),
        calls: Some(arguments.calls.clone()).filter(|calls| !calls.is_empty()),
        messages: None,
        reason: arguments.reason.clone(),
    };
    let result = client.context_discard(params)?;
    out::show(context.common, &result, describe)
}

fn describe(result: &DiscardResult) -> String {
    let tokens = out::thousands(result.tokens);
    match result.outputs {
        1 => format!("the next compression leaves a line of an output of {tokens} tokens\n"),
        count => format!("the next compression leaves a line of each of {count} outputs of {tokens} tokens\n"),
    }
}
