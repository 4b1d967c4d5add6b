//! `herma compress FILE`.

use std::path::{Path, PathBuf};

use herma_client::protocol::Json;
use herma_client::protocol::context::{CompressParams, ConfigureParams, PlanParams, PlanResult, Report, Settings};
use herma_client::protocol::value::TextOrOff;
use serde::Deserialize;

use super::exit::Failure;
use super::{Session, out};

/// Shortens a conversation and says what was done; the new list goes to
/// standard output with --messages.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds a JSON list of chat messages, an object with `messages`, or one message a line.\n\nExamples:\n  herma compress conversation.json --context-length 200000\n  herma compress conversation.json --messages > shorter.json\n  herma compress conversation.json --plan\n  herma compress - --focus \"the failing test\" < conversation.json"
)]
pub(super) struct Arguments {
    /// The conversation; - for standard input
    file: PathBuf,
    /// The session's id; what is removed is kept under it; `compress:` and the file's name when left out
    #[arg(long)]
    session: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    context_length: u64,
    /// What to keep most of
    #[arg(long, value_name = "TOPIC")]
    focus: Option<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    plan: bool,
    /// Print the new list as JSON; the report goes to standard error
    #[arg(long, conflicts_with = "plan")]
    messages: bool,
}

pub(super) fn run(session: &Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let messages = read_messages(&arguments.file)?;
    let mut client = session.connect()?;
    let focus = arguments.focus.clone().map(TextOrOff::Text);
    if arguments.plan {
        let config = Settings { context_length: Some(arguments.context_length), ..Settings::default() };
        let result =
            client.context_plan(PlanParams { messages, config: Some(config), focus, ..PlanParams::default() })?;
        return out::show(session.common, &result, planned);
    }
    let id = arguments.session.clone().unwrap_or_else(|| {
        let name = arguments.file.file_name().unwrap_or_default().to_string_lossy();
        format!("compress:{name}")
    });
    client.context_configure(ConfigureParams {
        session: id.clone(),
        context_length: Some(arguments.context_length),
        ..ConfigureParams::default()
    })?;
    let params = CompressParams { session: id, messages: Some(messages), focus, ..CompressParams::default() };
    let Some(result) = client.context_compress(params)?.compressed() else {
        return Err(Failure::File("the daemon asks for a summary; choose another summarizer".into()));
    };
    if session.common.json {
        return out::json(&result);
    }
    if arguments.messages {
        drop(std::io::Write::write_all(&mut std::io::stderr(), reported(&result.report).as_bytes()));
        let texts: Vec<&str> = result.messages.iter().flatten().map(Json::get).collect();
        return out::line(&format!("[{}]", texts.join(",\n")));
    }
    out::line(&reported(&result.report))
}

/// Reads messages: a JSON list, an object with `messages`, or one a line.
pub(super) fn read_messages(path: &Path) -> Result<Vec<Json>, Failure> {
    #[derive(Deserialize)]
    struct Conversation {
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

fn planned(plan: &PlanResult) -> String {
    let middle = plan.end.saturating_sub(plan.start);
    let total = u64::try_from(plan.messages.len()).unwrap_or(u64::MAX);
    out::columns(&[
        ("head", format!("{} messages stay", plan.start.min(total))),
        ("middle", format!("{middle} messages would be replaced by one handoff")),
        ("tail", format!("{} messages stay", total.saturating_sub(plan.end))),
        ("pruned", format!("{} tool results would be shortened", plan.pruned)),
        ("summary", format!("up to {} tokens", out::thousands(plan.summary_budget))),
        ("focus", plan.focus.clone().unwrap_or_else(|| "none".into())),
    ])
}

fn reported(report: &Report) -> String {
    if !report.compressed {
        let why = report.reason.as_deref().unwrap_or("there was nothing to do");
        return format!("not compressed: {why}\n");
    }
    let before_after = |before, after| format!("{} -> {}", out::thousands(before), out::thousands(after));
    let mut rows = vec![
        ("messages", before_after(report.messages_before, report.messages_after)),
        ("chars", before_after(report.chars_before, report.chars_after)),
        (
            "tokens",
            format!("{}, {:.0} % saved", before_after(report.tokens_before, report.tokens_after), report.savings_pct),
        ),
        ("kept", format!("{} messages in front, {} at the end", report.head, report.tail)),
        ("replaced", format!("{} messages, by a handoff of the {} summarizer", report.dropped, report.summarizer)),
        ("pruned", format!("{} tool results shortened", report.pruned)),
        ("session", format!("{}, generation {}", report.session, report.generation)),
        ("took", format!("{:.1} ms", report.elapsed_ms)),
    ];
    if let Some(archived) = &report.archived {
        rows.push(("archived", format!("{} messages under {}", archived.messages, archived.handle)));
    }
    for warning in &report.warnings {
        rows.push(("warning", warning.clone()));
    }
    out::columns(&rows)
}
