//! `herma recall`.

mod ask;
mod describe;
mod expand;
mod search;
mod state;

use clap::ValueEnum;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::recall::{Kind, SchemaParams};

use super::moment;
use super::names::session::Whose;

/// The default number of hits.
const LIMIT: u64 = 20;

/// The most hits, and the most messages or lines on one side.
const MOST: u64 = 100;

/// The most messages on each side of a hit.
const AROUND: u64 = 5;

/// The kinds of things to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SearchKind {
    /// Messages of sessions
    Message,
    /// Spilled outputs
    Output,
    /// Changes of the stores
    Memory,
}

impl From<SearchKind> for Kind {
    fn from(looked: SearchKind) -> Self {
        match looked {
            SearchKind::Message => Self::Message,
            SearchKind::Output => Self::Output,
            SearchKind::Memory => Self::Memory,
        }
    }
}

// Searches messages that left a conversation, spilled outputs, and the memory.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Ask as you would ask a colleague: the best passages come first, whatever form their words have. Text in double quotes must occur as it is. A hit is in colour on a terminal, and between » and « elsewhere, and the messages before and after it are indented. The exit code is 1 when nothing is found.\n\nExamples:\n  herma recall socket timeout\n  herma recall when did the customer from Seattle cancel --since 'last month'\n  herma recall '\"connection refused\" port' --kind output --since 7d\n  herma recall --here why did we drop the retry   # what was said in this folder\n  herma recall --everywhere which port did we choose\n  herma recall retry -C 3\n  herma recall --expand msg_1f2e… -B 5 -A 5\n  herma recall --expand out_1f2e…:120\n  herma recall --expand nod_1f2e…_7 --about 'socket timeout'\n  herma recall --describe my-session\n  herma recall --state my-session order\n  herma recall --ask why did the socket close --session my-session"
)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["query", "expand", "describe", "state", "schema"]).multiple(true))]
pub(super) struct Arguments {
    /// The words to search for
    #[arg(value_name = "QUERY", conflicts_with_all = ["expand", "describe", "schema"])]
    query: Vec<String>,
    /// Print the text of a handle, with its context
    #[arg(long, value_name = "HANDLE", conflicts_with_all = ["describe", "schema"])]
    expand: Option<String>,
    /// List the messages that a session's compressions removed, and its map if it has one
    #[arg(long, value_name = "SESSION", conflicts_with = "schema")]
    describe: Option<String>,
    /// List the entities of a session by their exact names; a QUERY is a name, a part of one, or a kind
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["expand", "describe", "schema"])]
    state: Option<String>,
    /// Answer the QUERY from the archived messages of a session, or of one node of its map, with quotations
    #[arg(long, requires = "query", conflicts_with_all = ["expand", "describe", "state", "schema", "kind", "since", "until", "limit"])]
    ask: bool,
    /// With --ask: search only this node of a map
    #[arg(long, value_name = "NODE", requires = "ask", conflicts_with = "session")]
    node: Option<String>,
    /// Print the function schemas with which a model can do all this
    #[arg(long)]
    schema: bool,
    /// Search only this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["expand", "describe", "state", "schema"])]
    session: Option<String>,
    #[command(flatten)]
    place: Whose,
    /// Also search the messages of all hosts that share
    #[arg(long, conflicts_with_all = ["expand", "describe", "state", "schema", "ask"])]
    everywhere: bool,
    /// Search only this kind; can be given several times
    #[arg(long, value_enum, conflicts_with_all = ["expand", "describe", "state", "schema"])]
    kind: Vec<SearchKind>,
    /// Only from this time on: 7d, 12h, yesterday, 'last tuesday', 2026-11-20 or Unix seconds
    #[arg(long, value_name = "WHEN", value_parser = moment::parse, conflicts_with_all = ["expand", "describe", "state", "schema"])]
    since: Option<f64>,
    /// Only before this time
    #[arg(long, value_name = "WHEN", value_parser = moment::parse, conflicts_with_all = ["expand", "describe", "state", "schema"])]
    until: Option<f64>,
    /// The most hits [default: 20; with --state 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST), conflicts_with_all = ["expand", "describe", "schema"])]
    limit: Option<u64>,
    /// Messages to show on each side of a message [default: 1]
    #[arg(short = 'C', long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=AROUND), conflicts_with_all = ["expand", "describe", "state", "schema", "ask"])]
    around: Option<u64>,
    /// With --expand: messages or lines before it [default: 2]
    #[arg(short = 'B', long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=MOST), conflicts_with_all = ["query", "describe", "state", "schema"])]
    before: Option<u64>,
    /// With --expand: messages or lines after it [default: 2; of a compression or a node 49]
    #[arg(short = 'A', long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=MOST), conflicts_with_all = ["query", "describe", "state", "schema"])]
    after: Option<u64>,
    /// With --expand: the part of a node or message that is about this
    #[arg(long, value_name = "WORDS", requires = "expand")]
    about: Option<String>,
    /// With --expand: the most tokens of messages; a longer message comes in parts [default: 2000; with --json the daemon's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "expand")]
    tokens: Option<u64>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { expand, describe, state, ask, schema, .. } = arguments;
    let is_no_search = expand.is_some() || describe.is_some() || state.is_some() || *ask || *schema;
    if arguments.place.is_some() && is_no_search {
        return Err(Failure::Usage("--agent, --folder and --here are for a search; leave them out".into()));
    }
    if let Some(handle) = &arguments.expand {
        return expand::run(context, arguments, handle);
    }
    if let Some(id) = &arguments.describe {
        return describe::run(context, id);
    }
    if let Some(id) = &arguments.state {
        return state::run(context, arguments, id);
    }
    if arguments.ask {
        return ask::run(context, arguments);
    }
    if arguments.schema {
        let result = context.connect()?.recall_schema(SchemaParams {})?;
        return out::show(context.common, &result, |result| {
            result.tools.iter().map(|tool| tool.get()).collect::<Vec<_>>().join("\n")
        });
    }
    search::run(context, arguments)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parsed(words: &str) -> Result<Arguments, String> {
        let words = std::iter::once("recall").chain(words.split_whitespace());
        Line::try_parse_from(words).map(|line| line.arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn it_searches_expands_or_describes() {
        assert_eq!(
            parsed("blue heron --kind output --kind memory").unwrap().kind,
            [SearchKind::Output, SearchKind::Memory]
        );
        assert_eq!(parsed("--expand out_1:120 -B 0 -A 5").unwrap().after, Some(5));
        for line in [
            "heron --since 7d --until 1h --limit 100 --session s",
            "heron --everywhere",
            "heron -C 0",
            "--describe s",
            "--state s",
            "--state s UM3OG5 --limit 5",
            "--schema",
            "--ask why did it close --session s",
            "--ask why --node nod_1_2",
        ] {
            assert!(parsed(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        for (line, words) in [
            ("", "QUERY|--expand"),
            ("heron --expand msg_1", "cannot be used with '--expand"),
            ("--expand msg_1 --describe s", "cannot be used with"),
            ("--expand msg_1 --session s", "cannot be used with"),
            ("--describe s --since 7d", "cannot be used with"),
            ("--state s --since 7d", "cannot be used with"),
            ("--state s --describe s", "cannot be used with"),
            ("heron -B 3", "cannot be used with"),
            ("-A 3", "QUERY|--expand"),
            ("heron --around 6", "6 is not in 0..=5"),
            ("--describe s -C 1", "cannot be used with"),
            ("heron --limit 0", "0 is not in 1..=100"),
            ("--expand msg_1 -A 101", "101 is not in 0..=100"),
            ("heron --since 7", "a number alone is Unix seconds"),
            ("heron --kind note", "message, output, memory"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
