//! The summarizer's input, and the form of its answer.

use super::turn::Turn;
use crate::text::{head, longer_than, tail};

/// The beginning of every summary.
pub const PREFIX: &str = "[CONTEXT SUMMARY]:";

/// The summary if every model call failed.
pub const FAILED: &str = "[CONTEXT SUMMARY]: [Summary generation failed. The turns that stood here, with their tool calls and responses, were taken out to save context.]";

/// The most chars of a value that stays whole.
const VALUE_CHARS: usize = 3_000;
/// Chars that stay at the beginning of a longer value.
const VALUE_HEAD: usize = 1_500;
/// Chars that stay at the end of a longer value.
const VALUE_TAIL: usize = 500;
/// The mark between them.
const CUT: &str = "...[truncated]...";

/// Tags whose number in a trajectory has a meaning, with their replacements in a summary.
const TAGS: [(&str, &str); 4] = [
    ("<tool_call>", "[tool_call]"),
    ("</tool_call>", "[/tool_call]"),
    ("<tool_response>", "[tool_response]"),
    ("</tool_response>", "[/tool_response]"),
];

/// Returns the turns of a range, `end` exclusive, as a text; empty if there are none.
pub fn summary_input(turns: &[Turn], start: usize, end: usize) -> String {
    let turns = turns.iter().enumerate().take(end).skip(start);
    let blocks = turns.map(|(at, turn)| format!("[Turn {at} - {}]:\n{}", role(turn), value(turn.value())));
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn role(turn: &Turn) -> String {
    if turn.name().is_empty() { "UNKNOWN".to_owned() } else { turn.name().to_uppercase() }
}

fn value(text: &str) -> String {
    if !longer_than(text, VALUE_CHARS) {
        return text.to_owned();
    }
    format!("{}{CUT}{}", head(text, VALUE_HEAD), tail(text, VALUE_TAIL))
}

/// Returns a summary in the form for the list: it begins with the prefix once, and the tags of calls and
/// responses are replaced, because tags are counted.
pub fn summary_text(text: &str) -> String {
    let mut body = text.trim();
    while let Some(rest) = body.strip_prefix(PREFIX) {
        body = rest.trim_start();
    }
    let body = TAGS.iter().fold(body.to_owned(), |text, (tag, word)| text.replace(tag, word));
    if body.is_empty() { PREFIX.to_owned() } else { format!("{PREFIX} {body}") }
}

/// Returns the prompt for a model; `target` is the size of the summary in tokens.
pub fn prompt(input: &str, target: u64) -> String {
    format!(
        "Some turns of an agent's recorded work are to be replaced by a summary. Write that summary.\n\n\
         Say what was done and with which tools, what came of it, which facts, names, paths, numbers and \
         errors were found, what was decided, and what was still open. Write plainly, in the past tense \
         and in the language of the turns, about {target} tokens in all. Do not greet and do not go on \
         with the work. Never write a password, key or token; write [REDACTED] in its place.\n\n\
         TURNS TO SUMMARIZE:\n{input}\n\nBegin with \"{PREFIX}\" and write only the summary."
    )
}
