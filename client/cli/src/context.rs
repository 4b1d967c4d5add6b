//! `herma context …`.

mod cache_control;
mod check;
mod classify;
mod discard;
mod episode;
mod opened;
mod pins;
pub(super) mod status;
mod tools;
mod usage;

use std::path::PathBuf;

use clap::Subcommand;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::EstimateParams;

use super::compress;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Estimate the tokens of a conversation or a text
    #[command(
        after_help = "Examples:\n  herma context estimate conversation.json\n  echo hello | herma context estimate --text -"
    )]
    Estimate {
        /// A file with messages; - for standard input
        file: PathBuf,
        /// Read the file as plain text
        #[arg(long)]
        text: bool,
    },
    /// Classify a provider's error, and show the window that it names
    Classify(classify::Arguments),
    /// Mark a conversation for the provider's prompt cache
    CacheControl(cache_control::Arguments),
    /// Check whether a session should be compressed now
    Check(check::Arguments),
    /// Show which tools a session used and what their schemas cost; choose the schemas to send
    Tools(tools::Arguments),
    /// Record the usage of a model call
    Usage(usage::Arguments),
    /// Keep a message in the list through compressions
    Pin(pins::Arguments),
    /// List the pinned messages of a session
    Pins {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
    },
    /// Unpin a message, so that compressions may remove it again
    Unpin {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
        /// The pin's id, from the list
        id: String,
    },
    /// Discard outputs that the agent no longer needs; the next compression leaves one line of each
    Discard(discard::Arguments),
    /// Open or close a sub-task; the next compression removes a closed one from the list
    Episode(episode::Arguments),
    /// Insert the original messages of a node into the list again
    Open(opened::Open),
    /// Remove opened messages from the list
    Fold(opened::Fold),
    /// Show the settings and the state of a session's engine, its map, and its reads from the prompt cache
    Status {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
    },
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Estimate { file, text } => {
            let mut params = EstimateParams::default();
            if *text {
                params.text = Some(out::read_input(file)?);
            } else {
                params.messages = Some(compress::read_messages(file)?);
            }
            let result = context.connect()?.context_estimate(params)?;
            out::show(context.common, &result, |result| {
                out::columns(&[
                    ("tokens (chars/4)", out::thousands(result.tokens)),
                    ("tokens (by script)", out::thousands(result.own)),
                    ("chars", out::thousands(result.budget_chars)),
                ])
            })
        }
        Command::Classify(arguments) => classify::run(context, arguments),
        Command::CacheControl(arguments) => cache_control::run(context, arguments),
        Command::Check(arguments) => check::run(context, arguments),
        Command::Tools(arguments) => tools::run(context, arguments),
        Command::Usage(arguments) => usage::run(context, arguments),
        Command::Pin(arguments) => pins::pin(context, arguments),
        Command::Pins { session: id } => pins::pins(context, id),
        Command::Unpin { session: id, id: pin } => pins::unpin(context, id, pin),
        Command::Discard(arguments) => discard::run(context, arguments),
        Command::Episode(arguments) => episode::run(context, arguments),
        Command::Open(arguments) => opened::open(context, arguments),
        Command::Fold(arguments) => opened::fold(context, arguments),
        Command::Status { session: id } => status::run(context, id),
    }
}
