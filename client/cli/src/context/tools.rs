//! `herma context tools`.

use std::path::PathBuf;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::tools::{ToolState, ToolsParams, ToolsResult};
use serde_json::value::RawValue;

use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds a JSON list of function schemas, as they are sent to a model (chat completions, Anthropic's messages,\nor responses), or an object with `tools`. With --budget those that were used are kept, and the others get a line each\nin the description of the tool open_tools, by which a model asks for them. --json prints what is to be sent as `list`.\n\nExamples:\n  herma context tools my-session tools.json\n  herma context tools my-session tools.json --budget 6000\n  herma context tools my-session tools.json --budget 6000 --json | jq .list"
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// The schemas; - for standard input
    file: PathBuf,
    /// The most tokens that the schemas may cost
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// A tool that the model just asked for; can be given several times
    #[arg(long, value_name = "NAME")]
    open: Vec<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { session: id, budget, open, .. } = arguments;
    let tools = schemas(arguments)?;
    let (mut client, session) = names::session::connect(context, id)?;
    let result = client.context_tools(ToolsParams { session, tools, budget: *budget, open: Some(open.clone()) })?;
    out::show(context.common, &result, describe)
}

fn schemas(arguments: &Arguments) -> Result<Vec<Json>, Failure> {
    #[derive(serde::Deserialize)]
    struct Within {
        tools: Vec<Box<RawValue>>,
    }
    let text = out::read_input(&arguments.file)?;
    let failed = |words: String| Failure::File(format!("{}: {words}", arguments.file.display()));
    let tools: Result<Vec<Box<RawValue>>, _> = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
    } else {
        serde_json::from_str(&text).map(|Within { tools }| tools)
    };
    let tools = tools.map_err(|error| failed(format!("no list of schemas: {error}")))?;
    let json = |tool: Box<RawValue>| Json::parse(tool.get().to_owned()).map_err(|error| failed(error.to_string()));
    tools.into_iter().map(json).collect()
}

/// Returns a table of the tools, the most expensive first.
fn describe(result: &ToolsResult) -> String {
    let mut tools: Vec<_> = result.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    let rows: Vec<[String; 4]> = tools
        .iter()
        .map(|tool| {
            let state = match tool.state {
                ToolState::Kept => "kept",
                ToolState::Opened => "opened",
                ToolState::Stub => "a line",
            };
            let name = tool.name.clone().unwrap_or_else(|| "-".into());
            [name, out::thousands(tool.tokens), out::thousands(tool.calls), state.to_owned()]
        })
        .collect();
    let table = out::table(["tool", "tokens", "calls", "sent as"], &rows);
    let (before, after) = (out::thousands(result.tokens_before), out::thousands(result.tokens_after));
    match &result.opener {
        Some(opener) => {
            format!("{table}\n{before} tokens of schemas, {after} as they are sent, with {opener} for the others")
        }
        None => format!("{table}\n{before} tokens of schemas"),
    }
}
