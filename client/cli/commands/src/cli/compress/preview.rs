//! `herma compress --preview`: the list of before and after, as a diff.

use herma_client::protocol::Json;
use herma_client::protocol::context::Preview;
use serde::Deserialize;

use super::out;

/// Chars of a message that are shown in its line.
const TEXT: usize = 100;

/// Messages in a row of one fate that are shown one by one; of more the first and the last.
const ROW: usize = 6;

/// The diff: a line for each message of the list, `-` before those that leave, `~` before those that
/// become shorter, `+` before what is new.
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
        let (fate, told) = match (replaced, stays) {
            (Some(_), _) if joined => ('~', message),
            (Some(replace), _) => ('~', &replace.message),
            (None, true) => (' ', message),
            (None, false) => ('-', message),
        };
        if run.first().is_some_and(|(first, _)| *first != fate) {
            flush(&mut text, &mut run);
        }
        run.push((fate, line(at, told)));
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

/// Whether a message has the handoff in front of what it was: where the roles of its neighbours leave no
/// place for a message of its own.
fn is_joined(preview: &Preview, message: &Json) -> bool {
    let handoff = preview.handoff.trim();
    !handoff.is_empty() && Message::of(message).content.contains(handoff)
}

fn line(at: usize, message: &Json) -> String {
    let Message { role, content } = Message::of(message);
    format!("[{at}] {role}: {}", out::cut(&content, TEXT))
}

/// What is shown of a message.
struct Message {
    role: String,
    content: String,
}

impl Message {
    fn of(message: &Json) -> Self {
        #[derive(Deserialize)]
        struct Read {
            role: Option<String>,
            content: Option<serde_json::Value>,
            tool_calls: Option<serde_json::Value>,
        }
        let read: Option<Read> = serde_json::from_str(message.get()).ok();
        let Some(Read { role, content, tool_calls }) = read else {
            return Self { role: "?".into(), content: message.get().to_owned() };
        };
        let content = match (content, tool_calls) {
            (Some(serde_json::Value::String(text)), None) => text,
            (Some(serde_json::Value::String(text)), Some(calls)) => format!("{text} {calls}"),
            (None | Some(serde_json::Value::Null), Some(calls)) => calls.to_string(),
            (Some(other), _) => other.to_string(),
            (None, None) => String::new(),
        };
        Self { role: role.unwrap_or_else(|| "?".into()), content }
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
