//! `herma context classify`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::provider_error::{ClassifyErrorParams, ClassifyErrorResult, ErrorClass};

use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With a session, a window that the text names is remembered for its model at its endpoint.\n\nExamples:\n  herma context classify \"prompt is too long: 208310 tokens > 200000 maximum\" --current 200000\n  curl … | herma context classify - --status 400 --session trip --json"
)]
pub(crate) struct Arguments {
    /// The provider's error text; - for standard input
    text: String,
    /// The HTTP status
    #[arg(long, value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,
    /// The window that you assumed, in tokens
    #[arg(long, value_name = "TOKENS")]
    current: Option<u64>,
    /// The session whose model returned the error
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let text = out::text_or_input(&arguments.text)?;
    let (status, current) = (arguments.status, arguments.current);
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    let result = client.context_classify_error(ClassifyErrorParams { text, status, current, session })?;
    out::show(context.common, &result, classified)
}

fn classified(result: &ClassifyErrorResult) -> String {
    let (kind, advice) = match result.kind {
        ErrorClass::InputTooLong => ("input too long", "compress, and call again"),
        ErrorClass::OutputCap => ("answer too long", "call again with fewer tokens for the answer"),
        ErrorClass::Other => ("something else", "a compression does not help"),
    };
    let tokens = |count: u64| format!("{} tokens", out::thousands(count));
    let mut rows = vec![("kind", kind.to_owned()), ("what helps", advice.to_owned())];
    rows.extend(result.context_limit.map(|limit| {
        let lower = if result.lower_limit.is_some() { ", less than was believed" } else { "" };
        ("window", format!("{}{lower}", tokens(limit)))
    }));
    rows.extend(result.available_output.map(|left| ("left for the answer", tokens(left))));
    rows.extend(result.next_tier.map(|tier| ("next usual window", format!("{}, a guess", tokens(tier)))));
    out::columns(&rows)
}
