//! `herma context check`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::check::{CheckParams, CheckReason, CheckResult};

use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --tokens the last prompt counts that was reported for the session.\n\nExamples:\n  herma context check --session trip\n  herma context check --session trip --tokens 90000 --json"
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    #[arg(long, value_name = "ID")]
    session: String,
    /// The tokens of the prompt
    #[arg(long)]
    tokens: Option<u64>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let result = client.context_check(CheckParams { session, tokens: arguments.tokens, ..CheckParams::default() })?;
    out::show(context.common, &result, checked)
}

fn checked(result: &CheckResult) -> String {
    let answer = match (result.compress, result.defer) {
        (_, true) => "it can wait for the next usage",
        (true, false) => "yes",
        (false, false) => "no",
    };
    let why = match result.reason {
        CheckReason::BelowThreshold => "below the threshold",
        CheckReason::OverThreshold => "over the threshold",
        CheckReason::BreakerOpen => "the last runs saved too little",
        CheckReason::RateLimited => "too many runs, or too little new text",
        CheckReason::Cooldown => "the summarizer failed a moment ago",
        CheckReason::NothingToCompress => "nothing between beginning and end",
        CheckReason::Disabled => "switched off in the configuration",
    };
    let mut rows = vec![
        ("compress now", format!("{answer}: {why}")),
        ("tokens", format!("{} of {}", out::thousands(result.tokens), out::thousands(result.threshold))),
        ("window", format!("{:.0} % full", 100.0 * result.pressure)),
    ];
    if result.wait_s > 0.0 {
        rows.push(("again in", format!("{:.0} s", result.wait_s.ceil())));
    }
    out::columns(&rows)
}
