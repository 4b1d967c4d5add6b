//! The focus of the summary when the caller names no topic: the newest words of the user.

use crate::handoff;
use crate::message::{Message, Role};
use crate::redaction::Redaction;
use crate::request::Focus;
use crate::settings::Settings;
use crate::text::{collapse, cut_with};

/// The number of user messages in a focus.
const MESSAGES: usize = 3;
/// The most chars of one message.
const ITEM_CHARS: usize = 260;
/// The most chars of the whole focus.
const FOCUS_CHARS: usize = 700;

/// Returns the focus of a run.
pub fn resolve(focus: &Focus, messages: &[Message], settings: &Settings) -> Option<String> {
    match focus {
        Focus::Off => None,
        Focus::Topic(topic) if !topic.trim().is_empty() => {
            Some(Redaction::from(settings).apply(topic.trim()).into_owned())
        }
        Focus::Auto | Focus::Topic(_) => auto(messages, Redaction::from(settings)),
    }
}

/// Returns a focus from the newest three user messages with text, oldest first.
pub fn auto(messages: &[Message], redaction: Redaction) -> Option<String> {
    let mut items: Vec<String> = messages
        .iter()
        .rev()
        .filter(|message| message.is(Role::User) && !handoff::is_handoff(message))
        .map(|message| collapse(&redaction.apply(&message.shown_text())))
        .filter(|text| !text.is_empty())
        .take(MESSAGES)
        .map(|text| format!("- {}", cut_with(&text, ITEM_CHARS, "…")))
        .collect();
    if items.is_empty() {
        return None;
    }
    items.push("Recent user focus:".to_owned());
    items.reverse();
    Some(cut_with(&items.join("\n"), FOCUS_CHARS, "…"))
}

#[cfg(test)]
mod tests;
