//! `herma output admit`.

use std::path::PathBuf;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::output::{AdmitParams, AdmitResult};
use herma_client::protocol::value::{Content, Size};

use crate::names;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo build 2>&1 | herma output admit my-session --tool terminal --id call_1 -")]
pub(crate) struct Arguments {
    /// The session's id; a missing session is opened
    session: String,
    /// The file with the result; - for standard input
    file: PathBuf,
    /// The tool that returned it
    #[arg(long, default_value = "terminal")]
    tool: String,
    /// The call's id
    #[arg(long)]
    id: String,
    /// Spill a longer result, in chars; `inf` for never
    #[arg(long, value_name = "CHARS", value_parser = size)]
    threshold: Option<Size>,
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "inf" => Ok(Size::Infinite),
        _ => text.parse().map(Size::Chars).map_err(|_| "a number of chars or \"inf\"".into()),
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let content = Content::Text(out::read_input(&arguments.file)?);
    let (mut client, session) = names::session::connect_new(context, &arguments.session)?;
    let params = AdmitParams {
        session,
        tool: arguments.tool.clone(),
        id: arguments.id.clone(),
        content,
        threshold: arguments.threshold,
        config: None,
    };
    let result = client.output_admit(params)?;
    out::show(context.common, &result, admitted)?;
    match result.failure {
        None => Ok(()),
        Some(failure) => {
            let words = format!("the full output could not be kept ({failure:?}); the log of the daemon says why");
            Err(Failure::File(words))
        }
    }
}

fn admitted(result: &AdmitResult) -> String {
    match &result.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(|part| part.get()).collect::<Vec<_>>().join("\n"),
    }
}
