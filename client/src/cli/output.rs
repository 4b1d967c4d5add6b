//! `herma output …`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use herma_client::protocol::output::{AdmitParams, AdmitResult, Next, PreviewParams, ReadParams, ReadResult, View};
use herma_client::protocol::value::{Content, Size};

use super::exit::Failure;
use super::{Session, out};

/// How to show an output.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Shown {
    /// As it is
    Raw,
    /// JSON, indented
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Admit a tool result: print what goes into the conversation
    #[command(
        after_help = "Example:\n  cargo build 2>&1 | herma output admit my-session --tool terminal --id call_1 -"
    )]
    Admit {
        /// The session's id
        session: String,
        /// The file with the result; - for standard input
        file: PathBuf,
        /// The tool that gave it
        #[arg(long, default_value = "terminal")]
        tool: String,
        /// The call's id
        #[arg(long)]
        id: String,
        /// Spill what is longer, in chars; `inf` for never
        #[arg(long, value_name = "CHARS", value_parser = size)]
        threshold: Option<Size>,
    },
    /// Read a spilled output, page by page
    #[command(
        after_help = "Examples:\n  herma output read out_1f2e… --line 400 --lines 20\n  herma output read out_1f2e… --tail 10\n  herma output read ~/.hermes/herma/outputs/s/call_1.txt --offset 0 --limit 500"
    )]
    Read {
        /// Its handle or its path
        output: String,
        /// First line, from 1
        #[arg(long)]
        line: Option<u64>,
        /// How many lines
        #[arg(long)]
        lines: Option<u64>,
        /// First char, from 0
        #[arg(long, conflicts_with_all = ["line", "lines"])]
        offset: Option<u64>,
        /// How many chars
        #[arg(long, conflicts_with_all = ["line", "lines"])]
        limit: Option<u64>,
        /// That many last lines
        #[arg(long, conflicts_with_all = ["line", "lines", "offset", "limit"])]
        tail: Option<u64>,
        /// How to show it
        #[arg(long, value_enum, default_value = "raw")]
        view: Shown,
    },
    /// Print the preview of a text
    Preview {
        /// The file with the text; - for standard input
        file: PathBuf,
        /// Chars of the head
        #[arg(long, default_value_t = 1500)]
        max: u64,
        /// Chars of the tail
        #[arg(long, default_value_t = 0)]
        tail: u64,
    },
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "inf" => Ok(Size::Infinite),
        _ => text.parse().map(Size::Chars).map_err(|_| "a number of chars or \"inf\"".into()),
    }
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Admit { session: id, file, tool, id: call, threshold } => {
            let content = Content::Text(out::read_input(file)?);
            let params = AdmitParams {
                session: id.clone(),
                tool: tool.clone(),
                id: call.clone(),
                content,
                threshold: *threshold,
                config: None,
            };
            let result = session.connect()?.output_admit(params)?;
            out::show(session.common, &result, admitted)?;
            match result.failure {
                None => Ok(()),
                Some(failure) => {
                    let words =
                        format!("the full output could not be kept ({failure:?}); the log of the daemon says why");
                    Err(Failure::File(words))
                }
            }
        }
        Command::Read { output, line, lines, offset, limit, tail, view } => {
            let is_path = output.contains('/');
            let params = ReadParams {
                handle: Some(output.clone()).filter(|_| !is_path),
                path: Some(output.clone()).filter(|_| is_path),
                line: *line,
                lines: *lines,
                offset: *offset,
                limit: *limit,
                tail: *tail,
                view: Some(match view {
                    Shown::Raw => View::Raw,
                    Shown::Json => View::Json,
                }),
            };
            let result = session.connect()?.output_read(params)?;
            page(session, &result)
        }
        Command::Preview { file, max, tail } => {
            let params = PreviewParams { content: out::read_input(file)?, max: Some(*max), tail: Some(*tail) };
            let result = session.connect()?.output_preview(params)?;
            out::show(session.common, &result, |result| {
                let dots = if result.has_more { "\n..." } else { "" };
                let tail = result.tail.as_ref().map_or(String::new(), |tail| format!("\n{tail}"));
                format!("{}{dots}{tail}", result.text)
            })
        }
    }
}

fn admitted(result: &AdmitResult) -> String {
    match &result.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(|part| part.get()).collect::<Vec<_>>().join("\n"),
    }
}

/// The text goes to standard output as it is, where the next page begins to
/// standard error.
fn page(session: &Session<'_>, result: &ReadResult) -> Result<(), Failure> {
    if session.common.json {
        return out::json(result);
    }
    out::bytes(result.text.as_bytes())?;
    let next = match result.next {
        Some(Next::Line(line)) => format!("next: --line {line}"),
        Some(Next::Offset(offset)) => format!("next: --offset {offset}"),
        None => "end".into(),
    };
    let lines = out::thousands(result.total_lines);
    let chars = out::thousands(result.total_chars);
    drop(std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("\n[{lines} lines, {chars} chars in all; {next}]\n").as_bytes(),
    ));
    Ok(())
}
