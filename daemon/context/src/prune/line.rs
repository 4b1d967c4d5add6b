//! The one line that describes a tool call and the size of its output.

use std::borrow::Cow;

use serde_json::Value;

use super::output::Output;
use crate::text::{cut_with, head, longer_than, thousands};

/// Returns the line for one output. `arguments` are those of the call, null if unknown.
pub fn one_line(tool: &str, arguments: &Value, output: Output<'_>) -> String {
    let args = Args(arguments);
    let len = thousands(output.chars());
    match tool {
        "terminal" => {
            let command = cut_with(&one(&args.text("command", "")), 80, "...");
            let exit = output.number("exit_code").unwrap_or_else(|| "?".to_owned());
            format!("[terminal] ran `{command}` -> exit {exit}, {} lines output", output.lines())
        }
        "read_file" => {
            format!("[read_file] read {} from line {} ({len} chars)", args.text("path", "?"), args.text("offset", "1"))
        }
        "write_file" => {
            let content = args.text("content", "");
            let count =
                if content.is_empty() { "?".to_owned() } else { (content.matches('\n').count() + 1).to_string() };
            format!("[write_file] wrote to {} ({count} lines)", args.text("path", "?"))
        }
        "search_files" => format!(
            "[search_files] {} search for '{}' in {} -> {} matches",
            args.text("target", "content"),
            one(&args.text("pattern", "?")),
            args.text("path", "."),
            output.number("total_count").unwrap_or_else(|| "?".to_owned())
        ),
        "patch" => {
            format!("[patch] {} in {} ({len} chars result)", args.text("mode", "replace"), args.text("path", "?"))
        }
        "browser_navigate" | "browser_click" | "browser_snapshot" | "browser_type" | "browser_scroll"
        | "browser_vision" => {
            let (url, reference) = (args.text("url", ""), args.text("ref", ""));
            let detail = match (url.is_empty(), reference.is_empty()) {
                (false, _) => format!(" {url}"),
                (true, false) => format!(" ref={reference}"),
                (true, true) => String::new(),
            };
            format!("[{tool}]{detail} ({len} chars)")
        }
        "web_search" => format!("[web_search] query='{}' ({len} chars result)", one(&args.text("query", "?"))),
        "web_extract" => {
            let urls = args.list("urls");
            let first = urls.first().map_or(Cow::Borrowed("?"), plain);
            let more = match urls.len() {
                0 | 1 => String::new(),
                count => format!(" (+{} more)", count - 1),
            };
            format!("[web_extract] {first}{more} ({len} chars)")
        }
        "delegate_task" => {
            format!("[delegate_task] '{}' ({len} chars result)", cut_with(&one(&args.text("goal", "")), 60, "..."))
        }
        "execute_code" => {
            let code = args.text("code", "");
            let dots = if longer_than(&code, 60) { "..." } else { "" };
            let shown = head(&code, 60).replace('\n', " ");
            format!("[execute_code] `{shown}{dots}` ({} lines output)", output.lines())
        }
        "skill_view" | "skills_list" | "skill_manage" => {
            format!("[{tool}] name={} ({len} chars)", args.text("name", "?"))
        }
        "vision_analyze" => format!("[vision_analyze] '{}' ({len} chars)", head(&one(&args.text("question", "")), 50)),
        "memory" => format!("[memory] {} on {}", args.text("action", "?"), args.text("target", "?")),
        "todo" => "[todo] updated task list".to_owned(),
        "clarify" => "[clarify] asked user a question".to_owned(),
        "text_to_speech" => format!("[text_to_speech] generated audio ({len} chars)"),
        "cronjob" => format!("[cronjob] {}", args.text("action", "?")),
        "process" => format!("[process] {} session={}", args.text("action", "?"), args.text("session_id", "?")),
        other => format!("[{other}]{} ({len} chars result)", args.first_two()),
    }
}

/// The arguments of a call, of any type.
struct Args<'a>(&'a Value);

impl<'a> Args<'a> {
    /// Returns the value of a key as text; `default` if there is none.
    fn text(&self, key: &str, default: &'a str) -> Cow<'a, str> {
        match self.0.get(key) {
            None | Some(Value::Null) => Cow::Borrowed(default),
            Some(value) => plain(value),
        }
    }

    fn list(&self, key: &str) -> &'a [Value] {
        match self.0.get(key) {
            Some(Value::Array(items)) => items,
            Some(value @ Value::String(_)) => std::slice::from_ref(value),
            _ => &[],
        }
    }

    fn first_two(&self) -> String {
        let Value::Object(map) = self.0 else {
            return String::new();
        };
        map.iter().take(2).map(|(key, value)| format!(" {key}={}", one(head(&plain(value), 40)))).collect()
    }
}

fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Returns the text on one line.
fn one(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) { Cow::Owned(text.replace(['\n', '\r'], " ")) } else { Cow::Borrowed(text) }
}
