//! Builds the text that replaces an agent's summary, where the agent keeps only one text and the user's words: the
//! handoff, and the last messages as they were said. No I/O.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The chars of the whole text: a tenth of a window of 100,000 tokens.
const LIMIT: usize = 40_000;

/// The chars of a call's arguments.
const ARGUMENTS: usize = 1_000;

/// The chars of an output.
const OUTPUT: usize = 2_000;

/// The chars of a message of the user that the agent keeps as well; here it shows the order.
const USER: usize = 300;

/// The chars of a message of the user that an agent does not keep.
const USER_ALONE: usize = 4_000;

/// The heading between the handoff and the last messages.
const LAST: &str = "What came last, as it was said (the user's words stand above in full):";

/// The text for a compaction that the agent is about to request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Handover {
    /// The text for the model.
    pub(super) text: String,
    /// The time when the text was built, in Unix seconds.
    pub(super) at: f64,
    /// The window that got the text. If the request is repeated, it gets the same text; another window never does.
    pub(super) window: Option<String>,
}

/// Returns the text for a list. The handoff is the message with a field named `mark`. Returns `None` if there is no
/// handoff.
pub(crate) fn text(list: &[Value], mark: &str) -> Option<String> {
    let (handoff, last) = parts(list, mark, USER)?;
    let mut room = LIMIT.saturating_sub(handoff.chars().count() + LAST.len());
    let fits = |shown: &&String| {
        let chars = shown.chars().count() + 2;
        let fits = chars <= room;
        room = room.saturating_sub(chars);
        fits
    };
    let mut last: Vec<&str> = last.iter().rev().take_while(fits).map(String::as_str).collect();
    last.retain(|shown| !shown.is_empty());
    last.reverse();
    if last.is_empty() {
        Some(handoff.to_owned())
    } else {
        Some(format!("{handoff}\n\n{LAST}\n\n{}", last.join("\n\n")))
    }
}

/// Returns the handoff of a list, and a text for each message after it. The plugin of the agent knows which of them leave
/// its window. Returns `None` if there is no handoff.
pub(super) fn handoff_and_last(list: &[Value], mark: &str) -> Option<(String, Vec<String>)> {
    let (handoff, last) = parts(list, mark, USER_ALONE)?;
    Some((handoff.to_owned(), last))
}

fn parts<'a>(list: &'a [Value], mark: &str, user: usize) -> Option<(&'a str, Vec<String>)> {
    let at = list.iter().position(|message| message.get(mark).is_some())?;
    let last = list[at + 1..].iter().map(|message| shown(message, user)).collect();
    Some((list[at].get("content")?.as_str()?, last))
}

fn shown(message: &Value, user: usize) -> String {
    let word = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    let content = word("content").trim();
    match word("role") {
        "user" => format!("[user] {}", ends(content, user)),
        "tool" => format!("[output] {}", ends(content, OUTPUT)),
        "assistant" => {
            let said = (!content.is_empty()).then(|| format!("[assistant] {content}"));
            let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(|call| {
                let of = |name: &str| call.pointer(name).and_then(Value::as_str).unwrap_or_default();
                format!("[call] {} {}", of("/function/name"), ends(of("/function/arguments"), ARGUMENTS))
            });
            said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns a text, or its beginning and its end if it is longer than `chars`.
pub(crate) fn ends(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let head: String = text.chars().take(chars * 2 / 3).collect();
    let tail: String = text.chars().skip(count - chars / 3).collect();
    format!("{head}\n[… {} chars …]\n{tail}", count - chars * 2 / 3 - chars / 3)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(output: &str) -> Vec<Value> {
        vec![
            json!({ "role": "user", "content": "begin" }),
            json!({ "role": "user", "content": "the handoff", "_mark": true }),
            json!({ "role": "assistant", "content": "I look.", "tool_calls": [
                { "id": "1", "function": { "name": "ls", "arguments": "{\"path\":\"src\"}" } }] }),
            json!({ "role": "tool", "tool_call_id": "1", "content": output }),
            json!({ "role": "user", "content": "go on" }),
        ]
    }

    #[test]
    fn the_handoff_stands_first_and_then_what_came_last() {
        let said = text(&list("main.rs"), "_mark").unwrap_or_default();
        assert_eq!(
            said,
            format!(
                "the handoff\n\n{LAST}\n\n[assistant] I look.\n[call] ls {{\"path\":\"src\"}}\n\n[output] main.rs\n\n[user] go on"
            )
        );
        let long = "word ".repeat(100);
        let mut all = list("x");
        all.push(json!({ "role": "user", "content": long }));
        let (handoff, last) = handoff_and_last(&all, "_mark").unwrap_or_default();
        assert_eq!((handoff.as_str(), last.len()), ("the handoff", 4));
        assert!(last[3].ends_with(long.trim()) && !text(&all, "_mark").unwrap_or_default().ends_with(long.trim()));
        assert_eq!(text(&list("x"), "_other"), None);
        assert_eq!(text(&list("x")[..2], "_mark").as_deref(), Some("the handoff"));
    }

    #[test]
    fn it_is_never_longer_than_a_part_of_a_window_and_has_the_newest() {
        let long = "é".repeat(5_000);
        let mut many = list(&long);
        for number in 0..100 {
            many.push(json!({ "role": "tool", "content": format!("{number} {long}") }));
        }
        let said = text(&many, "_mark").unwrap_or_default();
        let chars = said.chars().count();
        assert!((LIMIT - OUTPUT - 200..=LIMIT).contains(&chars), "{chars}");
        assert!(said.contains("[output] 99 é") && !said.contains("[output] 1 é") && said.contains("[… 3004 chars …]"));
    }
}
