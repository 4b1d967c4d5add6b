//! `herma output search`.

mod lines;

use herma_base::out::{self, Mark};
use herma_base::{CliContext, Failure};
use herma_client::protocol::output::search::SearchParams;

use crate::names;

/// The default number of matches.
const LIMIT: u64 = 50;

/// The most matches that one call returns.
const MOST: u64 = 1000;

/// Most lines of context.
const CONTEXT: u64 = 20;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints `handle:line:text` for each line that matches and `handle-line-text` for those round it, as grep does; of a line beyond 2,000 chars only the part around the match, with […] behind. The exit code is 1 when no line matches.\n\nExamples:\n  herma output search \"connection refused\"\n  herma output search -C 3 --session my-session panicked\n  herma output search --regex \"error\\[E[0-9]+\\]\" --output out_1f2e…\n  herma output read out_1f2e…:120"
)]
pub(crate) struct Arguments {
    /// The text to search for, exactly as it is
    query: String,
    /// Use it as a regular expression
    #[arg(long)]
    regex: bool,
    /// Only in the outputs of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only in this output
    #[arg(long, value_name = "HANDLE")]
    output: Option<String>,
    /// Lines to show before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=CONTEXT))]
    context: u64,
    /// The most matches to print
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    limit: u64,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    let handle = arguments.output.as_deref().map(|named| names::output::resolve(&mut client, named)).transpose()?;
    let params = SearchParams {
        query: arguments.query.clone(),
        regex: Some(arguments.regex),
        handle,
        session,
        context: Some(arguments.context),
        limit: Some(arguments.limit),
    };
    let result = client.output_search(params)?;
    if context.common.json {
        out::json(&result)?;
    } else if !result.matches.is_empty() {
        lines::marked(&result.matches, Mark::or(Mark::Nothing)).print()?;
    }
    if result.more && !context.common.json {
        let advice = if arguments.limit < MOST { "raise --limit, or narrow the search" } else { "narrow the search" };
        out::note(context.common, &format!("there are more matches; {advice}"));
    }
    if result.matches.is_empty() { Err(Failure::No) } else { Ok(()) }
}
