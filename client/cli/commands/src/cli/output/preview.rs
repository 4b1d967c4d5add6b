//! `herma output preview`.

use std::path::PathBuf;

use herma_client::protocol::output::PreviewParams;

use crate::cli::exit::Failure;
use crate::cli::{Session, out};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The file with the text; - for standard input
    file: PathBuf,
    /// Chars of the head
    #[arg(long, default_value_t = 1500)]
    max: u64,
    /// Chars of the tail
    #[arg(long, default_value_t = 0)]
    tail: u64,
}

pub(super) fn run(session: &Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let content = out::read_input(&arguments.file)?;
    let params = PreviewParams { content, max: Some(arguments.max), tail: Some(arguments.tail) };
    let result = session.connect()?.output_preview(params)?;
    out::show(session.common, &result, |result| {
        let dots = if result.has_more { "\n..." } else { "" };
        let tail = result.tail.as_ref().map_or(String::new(), |tail| format!("\n{tail}"));
        format!("{}{dots}{tail}", result.text)
    })
}
