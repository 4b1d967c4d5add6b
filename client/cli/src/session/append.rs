//! `herma session append`.

use std::path::PathBuf;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::session::transcript::AppendParams;

use crate::compress;
use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds a JSON list of chat messages, an object with `messages`, or one message a line. Messages that are kept already are passed over: the whole list can be given again when it has grown. A gap, or a generation that is not the session's, is refused.\n\nExamples:\n  herma session append my-session conversation.json\n  tail -n 2 messages.jsonl | herma session append my-session - --position 40"
)]
pub(crate) struct Arguments {
    /// The session's id; a missing session is opened
    session: String,
    /// The messages; - for standard input
    file: PathBuf,
    /// The generation of the list: how often it was compressed in place
    #[arg(long, value_name = "N", default_value_t = 0)]
    generation: u64,
    /// The position of the first message in the session's list, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    position: u64,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let messages = compress::read_messages(&arguments.file)?;
    let (mut client, session) = names::session::connect_new(context, &arguments.session)?;
    let params = AppendParams {
        session: session.clone(),
        generation: arguments.generation,
        position: arguments.position,
        messages,
    };
    let result = client.session_append(params)?;
    out::show(context.common, &result, |result| {
        format!("{session} is kept up to message {}", out::thousands(result.position))
    })
}
