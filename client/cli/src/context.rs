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
        /// The file is plain text
        #[arg(long)]
        text: bool,
    },
    /// Say what a provider's error is about, and which window it names
    Classify(classify::Arguments),
    /// Mark a conversation for the provider's prompt cache
    CacheControl(cache_control::Arguments),
    /// Ask whether a session should be compressed now
    Check(check::Arguments),
    /// Show which tools a session used and what their schemas cost; choose what is sent
    Tools(tools::Arguments),
    /// Tell what a call of a model used
    Usage(usage::Arguments),
    /// Keep a message in the list, whatever leaves it
    Pin(pins::Arguments),
    /// List the pinned messages of a session
    Pins {
        /// The session's id
        session: String,
    },
    /// Let a pinned message leave with the others again
    Unpin {
        /// The session's id
        session: String,
        /// What names the pin; see the list
        id: String,
    },
    /// Name outputs that the agent is done with, so that the next compression leaves a line of each
    Discard(discard::Arguments),
    /// Open or close a sub-task, so that the next compression takes a closed one out of the list
    Episode(episode::Arguments),
    /// Put what a node stands for into the list again, word for word
    Open(opened::Open),
    /// Take what was opened out of the list
    Fold(opened::Fold),
    /// Show the settings and the state of a session's engine, its map and what its calls read from the prompt cache
    Status {
        /// The session's id
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
