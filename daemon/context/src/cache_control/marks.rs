//! The marks of a message, at any depth.

use crate::json::{self, Span, Splice};
use crate::message::Message;

use super::KEY;

/// The most levels of nested parts.
const DEPTH: usize = 16;

/// Returns the number of marks in a message.
pub(super) fn count(message: &Message) -> usize {
    Found::of(message).count
}

/// Returns the message without its marks; the rest keeps its exact text.
pub(super) fn without(message: &Message) -> Message {
    let found = Found::of(message);
    if found.count == 0 { message.clone() } else { message.spliced(&found.removals) }
}

/// The result of a walk.
#[derive(Default)]
struct Found {
    count: usize,
    /// The cuts, commas included, in the order of the text.
    removals: Vec<Splice>,
}

impl Found {
    fn of(message: &Message) -> Self {
        let mut found = Self::default();
        let raw = message.raw();
        if message.is_object() && raw.contains("cache") {
            found.value(raw, json::value(raw, json::start(raw)), DEPTH);
            found.removals.sort_by_key(|splice| splice.span.start);
        }
        found
    }

    fn value(&mut self, raw: &str, at: Span, depth: usize) {
        match raw.as_bytes().get(at.start) {
            Some(b'{') if depth > 0 => self.object(raw, at, depth),
            Some(b'[') if depth > 0 => drop(json::items(raw, at.start, |at| {
                let span = json::value(raw, at);
                self.value(raw, span, depth - 1);
                span.end
            })),
            _ => {}
        }
    }

    fn object(&mut self, raw: &str, at: Span, depth: usize) {
        // The span of each member, and whether it is a mark.
        let mut members: Vec<(Span, bool)> = Vec::new();
        let mut content = Vec::new();
        json::members(raw, at.start, |key, at| {
            let (name, value) = (json::decode(key), json::value(raw, at));
            members.push((Span { start: Span::of(key, raw).start, end: value.end }, name == KEY));
            // Only messages and parts have marks; the arguments of a tool may contain the same name.
            if name == "content" {
                content.push(value);
            }
            value.end
        });
        self.count += members.iter().filter(|(_, is_mark)| *is_mark).count();
        let last_kept = members.iter().rposition(|(_, is_mark)| !is_mark);
        for (index, (member, _)) in members.iter().enumerate().filter(|(_, (_, is_mark))| *is_mark) {
            // Cut with the comma after it, or with the one before if no kept member follows.
            let cut = match last_kept {
                Some(last) if index < last => Span { start: member.start, end: members[index + 1].0.start },
                _ => Span {
                    start: index.checked_sub(1).map_or(member.start, |before| members[before].0.end),
                    end: member.end,
                },
            };
            self.removals.push(Splice { span: cut, text: String::new() });
        }
        content.into_iter().for_each(|value| self.value(raw, value, depth - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_cut_out_and_nothing_else() {
        for (raw, marks, rest) in [
            (r#"{"role":"user","content":"a"}"#, 0, r#"{"role":"user","content":"a"}"#),
            (r#"{ "cache_control" : 1 , "n":1.0}"#, 1, r#"{ "n":1.0}"#),
            (r#"{"n":1.0 , "cache_control":{}}"#, 1, r#"{"n":1.0}"#),
            (r#"{"cache_control":{}}"#, 1, "{}"),
            (r#"{"cache_control":1,"cache_control":{}}"#, 2, "{}"),
            (r#"{"n":1,"cache_control":1,"cache_control":{},"m":2}"#, 2, r#"{"n":1,"m":2}"#),
            (r#"{"n":1,"cache_control":1,"cache_control":{}}"#, 2, r#"{"n":1}"#),
            (r#"{"n":1,"cache_\u0063ontrol":1}"#, 1, r#"{"n":1}"#),
            (
                r#"{"content":[{"type":"text","text":"a","cache_control":{}},{"type":"tool_result","content":[{"cache_control":{}}]}]}"#,
                2,
                r#"{"content":[{"type":"text","text":"a"},{"type":"tool_result","content":[{}]}]}"#,
            ),
            (
                r#"{"content":[{"type":"tool_use","input":{"cache_control":"mine"}}]}"#,
                0,
                r#"{"content":[{"type":"tool_use","input":{"cache_control":"mine"}}]}"#,
            ),
            (r#"{"content":"\"cache_control\": 1"}"#, 0, r#"{"content":"\"cache_control\": 1"}"#),
            (r#"["cache_control"]"#, 0, r#"["cache_control"]"#),
        ] {
            let message = Message::of_json(raw);
            assert_eq!((count(&message), without(&message).raw()), (marks, rest), "{raw}");
        }
    }
}
