//! `herma output preview`.

use std::path::PathBuf;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::output::PreviewParams;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file with the text; - for standard input
    file: PathBuf,
    /// The chars of the head
    #[arg(long, default_value_t = 1500)]
    max: u64,
    /// The chars of the tail
    #[arg(long, default_value_t = 0)]
    tail: u64,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let content = out::read_input(&arguments.file)?;
    let params = PreviewParams { content, max: Some(arguments.max), tail: Some(arguments.tail) };
    let result = context.connect()?.output_preview(params)?;
    out::show(context.common, &result, |result| {
        let dots = if result.has_more { "\n..." } else { "" };
        let tail = result.tail.as_ref().map_or(String::new(), |tail| format!("\n{tail}"));
        format!("{}{dots}{tail}", result.text)
    })
}
