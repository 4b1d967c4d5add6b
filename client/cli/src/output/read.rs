//! `herma output read`.

use clap::ValueEnum;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::output::{Next, ReadParams, ReadResult, View};

use crate::names;

/// The form in which an output is shown.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OutputView {
    /// Unchanged
    Raw,
    /// Indented JSON
    Json,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A handle may carry the first line, as recall and search give it.\n\nExamples:\n  herma output read out_1f2e…:120\n  herma output read out_1f2e… --line 400 --lines 20\n  herma output read out_1f2e… --tail 10\n  herma output read ~/.hermes/herma/outputs/s/call_1.txt --offset 0 --limit 500"
)]
pub(crate) struct Arguments {
    /// Its handle, the beginning of it, or its path
    output: String,
    /// The first line, from 1
    #[arg(long)]
    line: Option<u64>,
    /// The number of lines
    #[arg(long)]
    lines: Option<u64>,
    /// The first char, from 0
    #[arg(long, conflicts_with_all = ["line", "lines"])]
    offset: Option<u64>,
    /// The number of chars
    #[arg(long, conflicts_with_all = ["line", "lines"])]
    limit: Option<u64>,
    /// The number of last lines
    #[arg(long, conflicts_with_all = ["line", "lines", "offset", "limit"])]
    tail: Option<u64>,
    /// The form in which it is shown
    #[arg(long, value_enum, default_value = "raw")]
    view: OutputView,
    /// Send the bytes to the terminal unchanged, instead of making control characters visible
    #[arg(long)]
    raw: bool,
}

impl Arguments {
    fn params(&self, output: String) -> ReadParams {
        let is_path = output.contains('/');
        let (handle, path) = if is_path { (None, Some(output)) } else { (Some(output), None) };
        ReadParams {
            handle,
            path,
            line: self.line,
            lines: self.lines,
            offset: self.offset,
            limit: self.limit,
            tail: self.tail,
            view: Some(match self.view {
                OutputView::Raw => View::Raw,
                OutputView::Json => View::Json,
            }),
        }
    }
}

/// Prints the text to standard output, and the beginning of the next page to standard error.
pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let output = names::output::resolve(&mut client, &arguments.output)?;
    let result = client.output_read(arguments.params(output.clone()))?;
    if context.common.json {
        return out::json(&result);
    }
    if arguments.raw {
        out::bytes(result.text.as_bytes())?
    } else {
        out::text(&result.text)?
    }
    let again = context.common.command(&format!("output read {}", without_line(&output)));
    out::report_aside(context.common, &foot(&result, &again));
    Ok(())
}

/// Returns the name of an output without the line that it may begin at.
fn without_line(output: &str) -> &str {
    output.split_once(':').filter(|_| !output.contains('/')).map_or(output, |(handle, _)| handle)
}

fn foot(result: &ReadResult, command: &str) -> String {
    let next = match result.next {
        Some(Next::Line(line)) => format!("next: {command} --line {line}"),
        Some(Next::Offset(offset)) => format!("next: {command} --offset {offset}"),
        None => "end".into(),
    };
    let lines = out::thousands(result.total_lines);
    let chars = out::thousands(result.total_chars);
    format!("\n[{lines} lines, {chars} chars in all; {next}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_named_by_handle_or_path() {
        for (output, handle, path) in [
            ("out_1f2e", Some("out_1f2e"), None),
            ("out_1f2e:120", Some("out_1f2e:120"), None),
            ("/h/outputs/s/call:1.txt", None, Some("/h/outputs/s/call:1.txt")),
            ("./call_1.txt", None, Some("./call_1.txt")),
        ] {
            let arguments = Arguments {
                output: output.into(),
                line: None,
                lines: None,
                offset: None,
                limit: None,
                tail: None,
                view: OutputView::Raw,
                raw: false,
            };
            let params = arguments.params(arguments.output.clone());
            assert_eq!((params.handle.as_deref(), params.path.as_deref()), (handle, path));
        }
    }

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        for (next, expected) in [
            (Some(Next::Line(201)), "\n[1,200 lines, 9 chars in all; next: read x --line 201]"),
            (Some(Next::Offset(5)), "\n[1,200 lines, 9 chars in all; next: read x --offset 5]"),
            (None, "\n[1,200 lines, 9 chars in all; end]"),
        ] {
            let result = ReadResult { text: String::new(), next, total_lines: 1200, total_chars: 9 };
            assert_eq!(foot(&result, "read x"), expected);
        }
    }
}
