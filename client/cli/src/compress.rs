//! `herma compress FILE` and `herma compress --undo`.

mod preview;
mod progress;
mod report;
pub(super) mod undo;

use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::undo::UndoParams;
use herma_client::protocol::context::{
    CompressParams, CompressResult, Compressed, ConfigureParams, Detail, Mode, PlanParams, Settings,
};
use herma_client::protocol::value::TextOrOff;
use serde::Deserialize;

use crate::names;

/// The default timeout of a compression. Models are slow, and several may be tried.
const PATIENCE: Duration = Duration::from_mins(15);

// Compresses a conversation and prints a report. With --messages it prints the new list to standard output. With --undo
// it restores the earlier list.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds a JSON list of messages, an object that has it as `messages`, `contents` or `input`, or one message a line. They may be chat completions, messages of Anthropic, items of OpenAI's Responses or contents of Gemini; the new list is in the same form.\n\nWith --undo the session's list becomes what it was before its newest compression, or at --generation, followed by the messages since then; the newest five can be undone. A session that nothing was appended to needs the list as it is now as FILE. With --plan nothing changes.\n\nExamples:\n  herma compress conversation.json --context-length 200000\n  herma compress conversation.json --messages > shorter.json\n  herma compress conversation.json --plan\n  herma compress conversation.json --preview | less -R\n  herma compress conversation.json --range 10..40 --detail high\n  herma compress conversation.json --summarizer openai\n  herma compress - --focus \"the failing test\" < conversation.json\n  herma compress --undo --session my-session --plan\n  herma compress shorter.json --undo --session my-session --messages > before.json"
)]
pub(super) struct Arguments {
    /// The conversation; - for standard input
    #[arg(required_unless_present = "undo")]
    file: Option<PathBuf>,
    /// The session's id, under which removed messages are kept; `compress:` and the file's name when left out
    #[arg(long)]
    pub(super) session: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    context_length: u64,
    /// The topic to keep most of
    #[arg(long, value_name = "TOPIC")]
    focus: Option<String>,
    /// The level of detail of the handoff: low, medium or high
    #[arg(long, value_name = "LEVEL", value_parser = detail)]
    detail: Option<Detail>,
    /// Replace only these messages, from the first position to before the second, like 10..40
    #[arg(long, value_name = "FROM..TO", value_parser = range)]
    range: Option<(u64, u64)>,
    /// The summarizer: a name that summarizer.chain may have, like extractive; the configured ones when left out
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    summarizer: Option<String>,
    /// Ask a summarizer again that just failed, and compress even if the result is longer
    #[arg(long, conflicts_with = "plan")]
    force: bool,
    /// Continue in a new session whose parent is this one
    #[arg(long = "continue", conflicts_with = "plan")]
    continues: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    plan: bool,
    /// Show which messages would be removed, kept and added, and do nothing
    #[arg(long, conflicts_with_all = ["plan", "summarizer", "force", "continues", "messages"])]
    preview: bool,
    /// Print the new list as JSON; the report goes to standard error
    #[arg(long)]
    messages: bool,
    /// Restore the list from before the session's newest compression
    #[arg(long, requires = "session", conflicts_with_all = ["focus", "detail", "range", "summarizer", "force", "continues", "context_length", "preview"])]
    undo: bool,
    /// The generation of the list to restore; the one before the newest compression when left out
    #[arg(long, value_name = "N", requires = "undo")]
    generation: Option<u64>,
}

/// Parses the level of detail of a handoff.
fn detail(text: &str) -> Result<Detail, String> {
    match text {
        "low" => Ok(Detail::Low),
        "medium" => Ok(Detail::Medium),
        "high" => Ok(Detail::High),
        _ => Err("it is low, medium or high".into()),
    }
}

/// Reads positions from the first to before the second.
fn range(text: &str) -> Result<(u64, u64), String> {
    let numbers = text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    numbers.filter(|(from, to)| from < to).ok_or_else(|| "give two positions like 10..40, the second larger".into())
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let messages = arguments.file.as_deref().map(read_messages).transpose()?;
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    if arguments.undo {
        let show = if arguments.messages { undo::Show::List } else { undo::Show::Report };
        let params = UndoParams {
            session: session.unwrap_or_default(),
            generation: arguments.generation,
            messages,
            dry_run: arguments.plan.then_some(true),
        };
        return undo::run(context, &mut client, params, show);
    }
    if arguments.plan && arguments.messages {
        return Err(Failure::Usage("--messages prints a list, and --plan makes none; leave one of them out".into()));
    }
    let messages = messages.unwrap_or_default();
    let focus = arguments.focus.clone().map(TextOrOff::Text);
    let (detail, range) = (arguments.detail, arguments.range);
    if arguments.plan {
        let config = Settings { context_length: Some(arguments.context_length), ..Settings::default() };
        let result = client.context_plan(PlanParams {
            messages,
            config: Some(config),
            focus,
            detail,
            range,
            ..PlanParams::default()
        })?;
        return out::show(context.common, &result, report::planned);
    }
    if arguments.preview {
        // A session has its own rules, earlier summary and window.
        let own = || Settings { context_length: Some(arguments.context_length), ..Settings::default() };
        let config = session.is_none().then(own);
        let (given, preview) = (messages.clone(), Some(true));
        let params = PlanParams { messages, session, config, focus, detail, range, preview, ..PlanParams::default() };
        let result = client.context_plan(params)?;
        return match &result.preview {
            Some(preview) if !context.common.json => out::changes(&preview::shown(preview, &given)),
            _ => out::json(&result),
        };
    }
    let id = session.unwrap_or_else(|| {
        let name = arguments.file.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        format!("compress:{name}")
    });
    client.context_configure(ConfigureParams {
        session: id.clone(),
        context_length: Some(arguments.context_length),
        ..ConfigureParams::default()
    })?;
    let params = CompressParams {
        session: id,
        messages: Some(messages),
        focus,
        summarizer: arguments.summarizer.clone(),
        force: arguments.force.then_some(true),
        detail,
        range,
        mode: arguments.continues.then_some(Mode::Continue),
        ..CompressParams::default()
    };
    if context.common.timeout.is_none() {
        client.set_timeout(Some(PATIENCE))?;
    }
    let progress = progress::Progress::start(context, &params.session);
    let result = client.context_compress(params);
    drop(progress);
    let CompressResult::Done(result) = result? else {
        let words = "this command can't write the summary that the \"client\" summarizer asks for; name another one";
        return Err(Failure::Usage(words.into()));
    };
    let Compressed { messages, report, .. } = &*result;
    if context.common.json {
        return out::json(&result);
    }
    if arguments.messages {
        out::report_aside(context.common, &report::reported(report));
        let texts: Vec<&str> = messages.iter().flatten().map(Json::get).collect();
        return out::line(&format!("[{}]", texts.join(",\n")));
    }
    out::line(&report::reported(report))
}

/// Reads messages: a JSON list, a request or an answer that contains one, or one message per line.
pub(super) fn read_messages(path: &Path) -> Result<Vec<Json>, Failure> {
    #[derive(Deserialize)]
    struct Conversation {
        #[serde(alias = "contents", alias = "input")]
        messages: Vec<Json>,
    }
    let text = out::read_input(path)?;
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let start = text.trim_start();
    if start.starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| failed(error.to_string()));
    }
    if let Ok(conversation) = serde_json::from_str::<Conversation>(&text) {
        return Ok(conversation.messages);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let messages = lines
        .map(|(at, line)| Json::parse(line.to_owned()).map_err(|error| failed(format!("line {}: {error}", at + 1))));
    messages.collect()
}
