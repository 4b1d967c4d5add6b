//! `herma context episode`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::episode::{EpisodeAction, EpisodeParams, EpisodeResult};

use super::super::compress;
use crate::names;

// A sub-task that begins or ends.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing changes at once: the next compression takes what was said in a closed episode out of the list, however new it is, leaves a line of it in the handoff, and keeps the whole in the archive.\n\nExamples:\n  herma context episode my-session open \"find the leak\"\n  herma context episode my-session close \"find the leak\" --outcome \"the pool kept its connections\""
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// Whether the sub-task begins or ends
    action: Action,
    /// The title of the sub-task, up to 120 chars
    title: String,
    /// The result of the sub-task, up to 300 chars
    #[arg(long)]
    outcome: Option<String>,
    /// The current list of a session without appended messages; - for standard input
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Action {
    Open,
    Close,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let params = EpisodeParams {
        session,
        action: match arguments.action {
            Action::Open => EpisodeAction::Open,
            Action::Close => EpisodeAction::Close,
        },
        title: arguments.title.clone(),
        outcome: arguments.outcome.clone(),
        messages: arguments.list.as_deref().map(compress::read_messages).transpose()?,
    };
    let result = client.context_episode(params)?;
    out::show(context.common, &result, |result| describe(arguments.action, result))
}

fn describe(action: Action, result: &EpisodeResult) -> String {
    let mut text = match action {
        Action::Open => format!("{:?} is open\n", result.title),
        Action::Close => format!(
            "{:?} is closed; the next compression takes its messages out of the list: {} of {} tokens\n",
            result.title,
            out::thousands(result.messages),
            out::thousands(result.tokens)
        ),
    };
    let others: Vec<&str> = result.open.iter().filter(|title| **title != result.title).map(String::as_str).collect();
    if !others.is_empty() {
        text.push_str(&format!("also open: {}\n", others.join(", ")));
    }
    text
}
