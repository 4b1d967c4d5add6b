//! Finding the summary that an earlier compression left in the list.

use crate::boundary::head_end;
use crate::handoff;
use crate::handoff::Section;
use crate::json;
use crate::message::{Content, Message, Role};

/// What is to be summarised, and on top of what.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The summary so far.
    pub previous: Option<String>,
    /// What herma had appended to it.
    pub carried: Vec<Section>,
    /// The turns that it does not cover.
    pub turns: Vec<Message>,
    /// For each turn, its index in the list.
    pub indexes: Vec<usize>,
}

/// Chooses the turns of `messages[start..end]`.
///
/// The newest handoff before `end` says what was summarised already; a summary that is `held`
/// counts only if there is such a handoff, else it belongs to another session. What stood behind
/// the end marker of a handoff in the middle is a turn of its own.
pub fn choose(messages: &[Message], start: usize, end: usize, held: Option<&str>) -> Turns {
    let from = usize::from(messages.first().is_some_and(|first| first.is(Role::System)));
    let end = end.min(messages.len());
    let found = (from..end).rev().find(|&at| handoff::is_handoff(&messages[at]));
    let mut out = Turns { previous: None, carried: Vec::new(), turns: Vec::new(), indexes: Vec::new() };
    let mut first = start;
    if let Some(at) = found {
        let text = messages[at].text();
        let parts = handoff::split(&text);
        out.carried = handoff::sections(&text);
        let (body, rest) = parts.map_or_else(Default::default, |parts| (parts.body, parts.rest));
        out.previous = held.map(str::to_owned).or(Some(body)).filter(|body| !body.trim().is_empty());
        if at >= start && !rest.is_empty() {
            out.turns.push(remainder(&messages[at], &rest));
            out.indexes.push(at);
        }
        first = start.max(at + 1);
    }
    let first = first.min(end);
    out.turns.extend_from_slice(&messages[first..end]);
    out.indexes.extend(first..end);
    out
}

/// The message without the handoff that was merged into it.
fn remainder(message: &Message, rest: &str) -> Message {
    match message.content() {
        Content::Text(_) | Content::List(_) => message.with_content(&json::encode(rest), &[]),
        _ => message.clone(),
    }
}

/// Whether anything lies between head and tail.
pub fn has_content(messages: &[Message], head_size: usize, cut: usize) -> bool {
    head_end(messages, head_size) < cut
}

#[cfg(test)]
mod tests;
