//! `herma session read`: a conversation as a person reads it.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::session::messages::{Kept, MessagesParams, MessagesResult};
use herma_client::protocol::visible::visible;
use serde_json::Value;

use crate::names;

/// The most messages of one request.
const PAGE: u64 = 200;

/// The lines of a tool's result, and the chars of a call's arguments, that are shown without `--whole`.
const RESULT: usize = 4;
const ARGUMENTS: usize = 100;

/// The chars of one line of a result.
const LINE: usize = 160;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Calls and results of tools are folded; --whole unfolds them, and `herma recall --expand HANDLE` opens one. A line says where a compression removed messages from the list.\n\nA session is named by its id, by the beginning of it if only one begins so, or by its place in `herma session list`: @1 is the newest.\n\nExamples:\n  herma session read @1\n  herma session read 5f2a --last 20\n  herma session read @1 --role user          # what you said\n  herma session read @2 --json | jq -r '.messages[].text'"
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// Only the last N messages
    #[arg(long, value_name = "N", conflicts_with = "from", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    /// Begin with this message, from 0
    #[arg(long, value_name = "N")]
    from: Option<u32>,
    /// At most so many messages
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only messages of this role (user, assistant, tool, system); can be given several times
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// Show calls and results of tools whole
    #[arg(long)]
    whole: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let from = match (arguments.last, arguments.from) {
        (Some(last), _) => -i64::from(last),
        (None, from) => from.map_or(0, i64::from),
    };
    let mut all = MessagesResult::default();
    let mut wanted = arguments.limit.unwrap_or(u64::MAX);
    let mut next = Some(from);
    while let Some(from) = next.filter(|_| wanted > 0) {
        let params = MessagesParams {
            session: session.clone(),
            first: Some(from),
            limit: Some(wanted.min(PAGE)),
            roles: Some(arguments.roles.clone()).filter(|roles| !roles.is_empty()),
            whole: Some(true),
        };
        let page = client.session_messages(params)?;
        if all.messages.is_empty() {
            (all.first, all.total) = (page.first, page.total);
        }
        let count = page.messages.len() as u64;
        wanted = wanted.saturating_sub(count);
        next = (count > 0).then(|| page.first.saturating_add(count)).and_then(|from| i64::try_from(from).ok());
        next = next.filter(|from| from.unsigned_abs() < page.total);
        all.messages.extend(page.messages);
    }
    if context.common.json {
        return out::json(&all);
    }
    if all.messages.is_empty() {
        out::note(context.common, "no messages of it yet");
        return Ok(());
    }
    out::paged(&conversation(&all, arguments.whole, Paint::find()))
}

/// The colours of roles; none in a pipe.
#[derive(Debug, Clone, Copy)]
struct Paint {
    is_on: bool,
}

impl Paint {
    fn find() -> Self {
        Self { is_on: out::is_coloured() }
    }

    fn role(self, role: &str) -> String {
        let colour = match role {
            "user" => "1;36",
            "assistant" => "1;32",
            "tool" => "2",
            _ => "1;33",
        };
        self.with(colour, role)
    }

    fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, colour: &str, text: &str) -> String {
        if self.is_on { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn conversation(page: &MessagesResult, is_whole: bool, paint: Paint) -> String {
    let mut text = String::new();
    let mut gone: Option<&str> = None;
    for (at, message) in page.messages.iter().enumerate() {
        if at > 0 && gone != message.left_by.as_deref() {
            let words = match &message.left_by {
                Some(compression) => format!("-- what {compression} removed from the list --"),
                None => "-- in the list now --".to_owned(),
            };
            text.push_str(&format!("{}\n\n", paint.dim(&words)));
        }
        gone = message.left_by.as_deref();
        text.push_str(&one(message, is_whole, paint));
        text.push('\n');
    }
    let end = page.first + page.messages.len() as u64;
    if page.first > 0 || end < page.total {
        let (first, total) = (out::thousands(page.first + 1), out::thousands(page.total));
        text.push_str(&paint.dim(&format!("messages {first} to {} of {total}", out::thousands(end))));
        text.push('\n');
    }
    text
}

fn one(message: &Kept, is_whole: bool, paint: Paint) -> String {
    let role = message.role.as_deref().unwrap_or("-");
    let body: Option<Value> = message.message.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let named = body.as_ref().and_then(|body| body.get("name")).and_then(Value::as_str);
    let name = named.map(|name| format!(" {}", visible(name))).unwrap_or_default();
    let about = paint.dim(&format!("{}  {}", out::when(message.time), message.handle));
    let mut text = format!("{}{name}  {about}\n", paint.role(role));
    let said = body.as_ref().map_or_else(|| message.text.clone(), said);
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let shown = if role == "tool" && !is_whole { RESULT.min(lines.len()) } else { lines.len() };
    for line in &lines[..shown] {
        let line = visible(line);
        let line = if role == "tool" && !is_whole { cut(&line, LINE) } else { line.into_owned() };
        text.push_str(&format!("  {line}\n"));
    }
    if shown < lines.len() {
        let more = out::count_noun(lines.len() - shown, "more line", "more lines");
        text.push_str(&format!("  {}\n", paint.dim(&format!("… {more}"))));
    }
    for call in body.iter().flat_map(|body| body.get("tool_calls")).filter_map(Value::as_array).flatten() {
        let field = |name: &str| call.pointer(&format!("/function/{name}")).and_then(Value::as_str).unwrap_or_default();
        let arguments = visible(field("arguments")).into_owned();
        let arguments = if is_whole { arguments } else { cut(&arguments, ARGUMENTS) };
        text.push_str(&format!("  -> {}  {}\n", visible(field("name")), paint.dim(&arguments)));
    }
    text
}

/// Returns what a message says: its text, or its text parts.
fn said(body: &Value) -> String {
    match body.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match part.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => format!("[{}]", part.get("type").and_then(Value::as_str).unwrap_or("part")),
            };
            parts.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn cut(line: &str, chars: usize) -> String {
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::Json;
    use serde_json::json;

    use super::*;

    fn kept(handle: &str, message: &Value, left_by: Option<&str>) -> Kept {
        Kept {
            handle: handle.into(),
            role: message["role"].as_str().map(str::to_owned),
            left_by: left_by.map(str::to_owned),
            message: Some(Json::parse(message.to_string()).unwrap()),
            ..Kept::default()
        }
    }

    #[test]
    fn a_conversation_has_calls_and_results_folded() {
        let call = json!({ "id": "c", "function": { "name": "Bash", "arguments": "x".repeat(200) } });
        let messages = vec![
            kept("msg_1", &json!({ "role": "user", "content": "Where does the walrus live?" }), Some("cmp_1")),
            kept("msg_2", &json!({ "role": "assistant", "content": null, "tool_calls": [call] }), Some("cmp_1")),
            kept("msg_3", &json!({ "role": "tool", "name": "Bash", "content": "1\n2\n3\n4\n5\n6\n" }), Some("cmp_1")),
            kept(
                "msg_4",
                &json!({ "role": "assistant", "content": [{ "type": "text", "text": "In the\nArctic.\u{1b}[2J" }] }),
                None,
            ),
        ];
        let page = MessagesResult { messages, first: 0, total: 9 };
        let then = out::local_time(0.0);
        let plain = Paint { is_on: false };
        let text = conversation(&page, false, plain);
        let expected = format!(
            "user  {then}  msg_1\n  Where does the walrus live?\n\n\
             assistant  {then}  msg_2\n  -> Bash  {}…\n\n\
             tool Bash  {then}  msg_3\n  1\n  2\n  3\n  4\n  … 2 more lines\n\n\
             -- in the list now --\n\n\
             assistant  {then}  msg_4\n  In the\n  Arctic.␛[2J\n\n\
             messages 1 to 4 of 9\n",
            "x".repeat(ARGUMENTS)
        );
        assert_eq!(text, expected);
        let whole = conversation(&page, true, plain);
        assert!(whole.contains("  5\n  6\n") && whole.contains(&"x".repeat(200)), "{whole}");
        assert!(conversation(&page, false, Paint { is_on: true }).contains("\u{1b}[1;36muser\u{1b}[0m"));
    }
}
