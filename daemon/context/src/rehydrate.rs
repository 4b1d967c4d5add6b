//! Finds the summary that an earlier compression left in the list.

use crate::boundary::head_end;
use crate::handoff;
use crate::handoff::Section;
use crate::json;
use crate::message::{Message, Role};

/// The turns to summarise, and the earlier summary.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// The summary so far.
    pub previous: Option<String>,
    /// The sections that herma had appended to it.
    pub carried: Vec<Section>,
    /// The turns that the earlier summary does not cover.
    pub turns: Vec<Message>,
    /// For each turn, its index in the list.
    pub indexes: Vec<usize>,
}

/// The session's knowledge of the handoffs in its list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    /// The summary of the newest handoff.
    pub held: Option<&'a str>,
    /// Whether each handoff covers only the messages at its own place, not all before it.
    pub is_scattered: bool,
}

/// Selects the turns of `messages[start..end]`.
///
/// The newest handoff before `end` shows what was already summarised. A held summary counts only if there is
/// such a handoff; otherwise it belongs to another session. Text after the end marker of a handoff in the
/// middle is a turn of its own, and so are the calls of a message that the handoff was merged into. With
/// scattered handoffs all of the middle counts, in any order.
pub fn choose(messages: &[Message], start: usize, end: usize, earlier: Earlier<'_>) -> Turns {
    let end = end.min(messages.len());
    let is_inside = (start..end).any(|at| messages.get(at).is_some_and(handoff::is_handoff));
    if earlier.is_scattered && is_inside {
        all_between(messages, start, end)
    } else {
        behind_newest(messages, start, end, earlier.held)
    }
}

/// Returns the turns of a middle with scattered handoffs.
fn all_between(messages: &[Message], start: usize, end: usize) -> Turns {
    let mut out = Turns::default();
    let mut bodies = Vec::new();
    for (at, message) in messages.iter().enumerate().take(end).skip(start) {
        if !handoff::is_handoff(message) {
            out.push(at, message.clone());
            continue;
        }
        let text = message.text();
        bodies.extend(handoff::split(&text).map(|parts| parts.body).filter(|body| !body.trim().is_empty()));
        for Section { kind, text } in handoff::sections(&text) {
            match out.carried.iter_mut().find(|section| section.kind == kind) {
                Some(section) => section.text = format!("{}\n{text}", section.text),
                None => out.carried.push(Section { kind, text }),
            }
        }
        if let Some(own) = own_words(message) {
            out.push(at, own);
        }
    }
    out.previous = (!bodies.is_empty()).then(|| bodies.join("\n\n"));
    out
}

fn behind_newest(messages: &[Message], start: usize, end: usize, held: Option<&str>) -> Turns {
    let from = usize::from(messages.first().is_some_and(|first| first.is(Role::System)));
    let found = (from..end).rev().find(|&at| handoff::is_handoff(&messages[at]));
    let mut out = Turns::default();
    let mut first = start;
    if let Some(at) = found {
        let text = messages[at].text();
        let body = handoff::split(&text).map(|parts| parts.body);
        out.carried = handoff::sections(&text);
        out.previous = held.map(str::to_owned).or(body).filter(|body| !body.trim().is_empty());
        if at >= start
            && let Some(own) = own_words(&messages[at])
        {
            out.push(at, own);
        }
        first = start.max(at + 1);
    }
    let first = first.min(end);
    out.turns.extend_from_slice(&messages[first..end]);
    out.indexes.extend(first..end);
    out
}

impl Turns {
    fn push(&mut self, at: usize, turn: Message) {
        self.turns.push(turn);
        self.indexes.push(at);
    }
}

/// Returns the message that a handoff was merged into, in its original form, or else the text after the end
/// marker.
fn own_words(message: &Message) -> Option<Message> {
    handoff::without_handoff(message).or_else(|| {
        let rest = handoff::split(&message.text())?.rest;
        (!rest.is_empty()).then(|| message.with_content(&json::encode(&rest), &[]))
    })
}

/// Whether there are messages between head and tail.
pub fn has_content(messages: &[Message], head_size: usize, cut: usize) -> bool {
    head_end(messages, head_size) < cut
}

#[cfg(test)]
mod tests;
