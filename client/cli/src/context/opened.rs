//! `herma context open` and `herma context fold`.

use std::path::PathBuf;

use clap::Args;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::opened::{FoldParams, FoldResult, OpenParams, OpenResult};

use super::super::compress;
use crate::names;

// Inserts the messages of a node into the list again.
#[derive(Debug, Args)]
#[command(
    after_help = "The messages of the node are then in the list next to the handoff, word for word, until `herma context fold` or the next compression takes them out. `herma recall --describe SESSION` shows the nodes of a session; `herma recall --expand NODE` reads one without changing the list.\n\nExamples:\n  herma context open my-session nod_9a3c41f0b2de_7\n  herma context open my-session nod_9a3c41f0b2de_7 --list now.json --messages > with.json"
)]
pub(crate) struct Open {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// The node
    node: String,
    /// The current list of a session without appended messages; - for standard input
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Print the list with the inserted messages
    #[arg(long, requires = "list")]
    messages: bool,
}

// Removes inserted messages from the list.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  herma context fold my-session\n  herma context fold my-session nod_9a3c41f0b2de_7 --list with.json --messages > without.json"
)]
pub(crate) struct Fold {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// The node; all open ones when left out
    node: Option<String>,
    /// The current list of a session without appended messages; - for standard input
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Print the list without the messages
    #[arg(long, requires = "list")]
    messages: bool,
}

pub(super) fn open(context: &CliContext<'_>, arguments: &Open) -> Result<(), Failure> {
    let list = arguments.list.as_deref().map(compress::read_messages).transpose()?;
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let params = OpenParams { session, node: arguments.node.clone(), messages: list.clone() };
    let result = client.context_open(params)?;
    let Some(mut list) = list.filter(|_| arguments.messages && !context.common.json) else {
        return out::show(context.common, &result, opened);
    };
    out::report_aside(context.common, &opened(&result));
    let at = place(result.at, &list);
    list.splice(at..at, result.messages);
    print(&list)
}

pub(super) fn fold(context: &CliContext<'_>, arguments: &Fold) -> Result<(), Failure> {
    let list = arguments.list.as_deref().map(compress::read_messages).transpose()?;
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let params = FoldParams { session, node: arguments.node.clone(), messages: list.clone() };
    let result = client.context_fold(params)?;
    let Some(mut list) = list.filter(|_| arguments.messages && !context.common.json) else {
        return out::show(context.common, &result, folded);
    };
    out::report_aside(context.common, &folded(&result));
    // Removes from the end, so that the earlier positions stay valid.
    for &(from, to) in result.remove.iter().rev() {
        let (from, to) = (place(from, &list), place(to, &list));
        list.drain(from.min(to)..to);
    }
    print(&list)
}

fn place(at: u64, list: &[Json]) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX).min(list.len())
}

fn print(list: &[Json]) -> Result<(), Failure> {
    let texts: Vec<&str> = list.iter().map(Json::get).collect();
    out::line(&format!("[{}]", texts.join(",\n")))
}

fn opened(result: &OpenResult) -> String {
    let count = u64::try_from(result.messages.len()).unwrap_or(u64::MAX);
    let of =
        result.threshold.map_or(String::new(), |tokens| format!(" of {} before a compression", out::thousands(tokens)));
    out::columns(&[
        ("opened", result.node.clone()),
        ("messages", format!("{}, before message {} of the list", out::thousands(count), result.at)),
        ("tokens", out::thousands(result.tokens)),
        ("the list", format!("{} tokens{of}", out::thousands(result.list_tokens))),
        ("open", result.open.join(", ")),
    ])
}

fn folded(result: &FoldResult) -> String {
    let places: Vec<String> = result.remove.iter().map(|(from, to)| format!("{from}..{to}")).collect();
    let mut rows = vec![("closed", result.folded.join(", "))];
    if !places.is_empty() {
        rows.push(("messages", places.join(", ")));
    }
    rows.push(("the list", format!("{} tokens", out::thousands(result.list_tokens))));
    if !result.open.is_empty() {
        rows.push(("open", result.open.join(", ")));
    }
    out::columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_and_closed_is_told() {
        let result = OpenResult {
            node: "nod_1_2".into(),
            at: 4,
            messages: Vec::new(),
            tokens: 1_200,
            list_tokens: 61_300,
            threshold: Some(100_000),
            open: vec!["nod_1_0".into(), "nod_1_2".into()],
        };
        let shown = opened(&result);
        for line in ["messages  0, before message 4", "61,300 tokens of 100,000 before", "nod_1_0, nod_1_2"] {
            assert!(shown.contains(line), "{shown}");
        }
        assert!(!opened(&OpenResult { threshold: None, ..result }).contains("before a compression"));
        let result = FoldResult { folded: vec!["nod_1_2".into()], remove: vec![(4, 30)], ..FoldResult::default() };
        assert!(folded(&result).contains("4..30") && !folded(&result).contains("open"));
    }
}
