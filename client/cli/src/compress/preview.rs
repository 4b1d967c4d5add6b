//! `herma compress --preview`: a diff of the list before and after.

use herma_client::protocol::Json;
use herma_client::protocol::context::Preview;
use serde_json::{Map, Value};

use super::out;

/// The most chars of a message that its line shows.
const TEXT: usize = 100;

/// The most messages of the same kind in a row that are all shown. Of more, only the first and the last are shown.
const ROW: usize = 6;

/// Returns the diff: a line for each message, `-` before a removed one, `~` before a shortened one, `+` before a new
/// one.
pub(super) fn shown(preview: &Preview, input: &[Json]) -> String {
    if let Some(reason) = &preview.reason {
        return format!("nothing would change: {reason}\n");
    }
    let mut text = String::new();
    let mut run: Vec<(char, String)> = Vec::new();
    for (at, message) in input.iter().enumerate() {
        let at_wide = u64::try_from(at).unwrap_or(u64::MAX);
        for insert in preview.edits.insert.iter().filter(|insert| insert.at == at_wide) {
            flush(&mut text, &mut run);
            added(&mut text, &insert.message);
        }
        let replaced = preview.edits.replace.iter().find(|replace| replace.index == at_wide);
        let stays = preview.edits.keep.iter().any(|(from, to)| (*from..*to).contains(&at_wide));
        let joined = replaced.is_some_and(|replace| is_joined(preview, &replace.message));
        if joined {
            flush(&mut text, &mut run);
            text.push_str("+ the handoff, in front of the next message:\n");
            indented(&mut text, &preview.handoff);
        }
        let (fate, report) = match (replaced, stays) {
            (Some(_), _) if joined => ('~', message),
            (Some(replace), _) => ('~', &replace.message),
            (None, true) => (' ', message),
            (None, false) => ('-', message),
        };
        if run.first().is_some_and(|(first, _)| *first != fate) {
            flush(&mut text, &mut run);
        }
        run.push((fate, line(at, report)));
    }
    flush(&mut text, &mut run);
    let end = u64::try_from(input.len()).unwrap_or(u64::MAX);
    for insert in preview.edits.insert.iter().filter(|insert| insert.at >= end) {
        added(&mut text, &insert.message);
    }
    let (before, after) = (out::thousands(preview.tokens_before), out::thousands(preview.tokens_after));
    let count = out::thousands(end);
    text.push_str(&format!("\nmessages  {count} -> {}\n", out::thousands(preview.messages_after)));
    text.push_str(&format!("tokens    {before} -> {after}\n"));
    text
}

fn flush(text: &mut String, run: &mut Vec<(char, String)>) {
    let hidden = if run.len() > ROW { run.len() - 2 } else { 0 };
    let last = run.len();
    for (at, (fate, line)) in run.drain(..).enumerate() {
        if hidden == 0 || at == 0 || at + 1 == last {
            text.push_str(&format!("{fate} {line}\n"));
        } else if at == 1 {
            text.push_str(&format!("{fate} … {} more\n", out::thousands(u64::try_from(hidden).unwrap_or(u64::MAX))));
        }
    }
}

fn added(text: &mut String, message: &Json) {
    let Message { role, content } = Message::of(message);
    text.push_str(&format!("+ {role}:\n"));
    indented(text, &content);
}

fn indented(text: &mut String, content: &str) {
    for line in content.lines() {
        text.push_str(&format!("+   {line}\n"));
    }
}

/// Returns whether the handoff is joined to this message. That happens if the roles of the neighbours don't allow a
/// separate message.
fn is_joined(preview: &Preview, message: &Json) -> bool {
    let handoff = preview.handoff.trim();
    !handoff.is_empty() && Message::of(message).content.contains(handoff)
}

fn line(at: usize, message: &Json) -> String {
    let Message { role, content } = Message::of(message);
    format!("[{at}] {role}: {}", out::cut(&content, TEXT))
}

/// The role of a message, and its text as shown.
struct Message {
    role: String,
    content: String,
}

impl Message {
    /// The fields with the text, the calls or the answer of an item, in the formats of all providers.
    const FIELDS: [&str; 10] = [
        "content",
        "parts",
        "summary",
        "name",
        "arguments",
        "input",
        "action",
        "output",
        "function_call",
        "tool_calls",
    ];

    fn of(message: &Json) -> Self {
        let read: Option<Map<String, Value>> = serde_json::from_str(message.get()).ok();
        let Some(fields) = read else { return Self { role: "?".into(), content: message.get().to_owned() } };
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        // The speaker's name is not part of the text.
        let is_said = |name: &&&str| **name != "name" || text("role").is_none();
        let said = Self::FIELDS.iter().filter(is_said).filter_map(|name| fields.get(*name)).map(shown_value);
        let said: Vec<String> = said.filter(|text| !text.is_empty()).collect();
        Self { role: text("role").or(text("type")).unwrap_or("?").to_owned(), content: said.join(" ") }
    }
}

/// Returns a text, the texts of parts, or any other value as JSON.
fn shown_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().all(|part| part["text"].is_string()) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Array(parts) => {
            let shown = |part: &Value| part["text"].as_str().map_or_else(|| part.to_string(), str::to_owned);
            parts.iter().map(shown).collect::<Vec<String>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::context::{Edits, Insert, Replace};

    use super::*;

    fn said(role: &str, text: &str) -> Json {
        Json::parse(serde_json::json!({ "role": role, "content": text }).to_string())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn what_an_item_says_is_shown_in_every_form() {
        for (item, wanted) in [
            (r#"{"role":"user","content":"hi"}"#, "user: hi"),
            (r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]}"#, r#"assistant: {"id":"c"}"#),
            (r#"{"role":"user","name":"anna","content":[{"type":"text","text":"hi"}]}"#, "user: hi"),
            (r#"{"role":"model","parts":[{"text":"hi"}]}"#, "model: hi"),
            (r#"{"type":"function_call","name":"read","arguments":"{}","call_id":"c"}"#, "function_call: read {}"),
            (r#"{"type":"function_call_output","call_id":"c","output":"done"}"#, "function_call_output: done"),
            ("7", "?: 7"),
        ] {
            let message = Json::parse(item.to_owned()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(line(0, &message), format!("[0] {wanted}"));
        }
    }

    #[test]
    fn what_leaves_what_stays_and_what_is_new_can_be_told_apart() {
        let mut input = vec![said("system", "be brief")];
        input.extend((1..10).map(|at| said("user", &format!("question {at}"))));
        input.push(said("tool", "a long output"));
        input.push(said("user", "and now?"));
        let preview = Preview {
            compressed: true,
            edits: Edits {
                keep: vec![(0, 1), (10, 12)],
                replace: vec![Replace { index: 10, message: said("tool", "[short]") }],
                insert: vec![Insert { at: 10, message: said("assistant", "first\nsecond") }],
            },
            messages_after: 4,
            tokens_before: 1_000,
            tokens_after: 90,
            ..Preview::default()
        };
        let wanted = "  [0] system: be brief\n- [1] user: question 1\n- … 7 more\n- [9] user: question 9\n\
                      + assistant:\n+   first\n+   second\n~ [10] tool: [short]\n  [11] user: and now?\n\n\
                      messages  12 -> 4\ntokens    1,000 -> 90\n";
        assert_eq!(shown(&preview, &input), wanted);
        let joined = Preview {
            handoff: "the record\nof it".into(),
            edits: Edits {
                keep: vec![(0, 1), (10, 12)],
                replace: vec![Replace { index: 10, message: said("tool", "the record\nof it\n\na long output") }],
                insert: Vec::new(),
            },
            ..preview
        };
        let text = shown(&joined, &input);
        let wanted =
            "+ the handoff, in front of the next message:\n+   the record\n+   of it\n~ [10] tool: a long output\n";
        assert!(text.contains(wanted), "{text}");
        let reason = Some("too few messages to compress".to_owned());
        let none = shown(&Preview { reason, ..Preview::default() }, &input);
        assert_eq!(none, "nothing would change: too few messages to compress\n");
    }
}
