//! Serialises turns as the text for a summarizer.

use std::sync::LazyLock;

use crate::message::{Message, Role};
use crate::pattern::Pattern;
use crate::redaction::Redaction;
use crate::text::{head, longer_than, tail};

/// The most chars of a content that stays whole.
const CONTENT_CHARS: usize = 6_000;
/// Chars that stay at the beginning of a longer content.
const CONTENT_HEAD: usize = 4_000;
/// Chars that stay at the end of a longer content.
const CONTENT_TAIL: usize = 1_500;
/// The most chars of arguments that stay whole.
const ARGUMENTS_CHARS: usize = 1_500;
/// Chars of longer arguments that stay.
const ARGUMENTS_HEAD: usize = 1_200;
/// The replacement for a media reference.
const MEDIA: &str = "[media attachment]";

static MEDIA_REFERENCE: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"MEDIA:\S+"));

/// Returns all turns, as blocks joined by a blank line.
pub fn serialize(turns: &[Message], redaction: Redaction) -> String {
    blocks(turns, redaction).join("\n\n")
}

/// Returns one block for each turn.
pub fn blocks(turns: &[Message], redaction: Redaction) -> Vec<String> {
    turns.iter().map(|turn| block(turn, redaction)).collect()
}

fn block(turn: &Message, redaction: Redaction) -> String {
    let content = content(turn, redaction);
    match turn.role() {
        Role::Tool => format!("[TOOL RESULT {}]: {content}", turn.tool_call_id().unwrap_or("")),
        Role::Assistant => format!("[ASSISTANT]: {content}{}", calls(turn, redaction)),
        Role::User => format!("[USER]: {content}"),
        Role::Missing => format!("[MESSAGE]: {content}"),
        other => format!("[{}]: {content}", other.as_str().to_uppercase()),
    }
}

fn content(turn: &Message, redaction: Redaction) -> String {
    let text = turn.text();
    let redacted = redaction.apply(&text);
    let shown = MEDIA_REFERENCE.replace_all(&redacted, MEDIA);
    if !longer_than(&shown, CONTENT_CHARS) {
        return shown.into_owned();
    }
    format!("{}\n...[truncated]...\n{}", head(&shown, CONTENT_HEAD), tail(&shown, CONTENT_TAIL))
}

fn calls(turn: &Message, redaction: Redaction) -> String {
    if turn.tool_calls().is_empty() {
        return String::new();
    }
    let lines: Vec<String> = turn
        .tool_calls()
        .iter()
        .map(|call| {
            let arguments = turn.arguments(call);
            let mut shown = redaction.apply(&arguments).into_owned();
            if longer_than(&shown, ARGUMENTS_CHARS) {
                shown = format!("{}...", head(&shown, ARGUMENTS_HEAD));
            }
            format!("  {}({shown})", call.name.as_deref().unwrap_or("?"))
        })
        .collect();
    format!("\n[Tool calls:\n{}\n]", lines.join("\n"))
}

#[cfg(test)]
mod tests;
