//! Pinned messages: they stay behind the handoff as they are, with what they can't stand without.

use std::collections::HashSet;
use std::ops::Range;

use super::layout::Layout;
use crate::fingerprint::Fingerprint;
use crate::handoff::{self, Placement};
use crate::message::{Message, Role};
use crate::pins::Pins;

/// Positions of the pinned messages of a list that another list has not.
pub(super) fn lost<'a>(before: &[Message], after: impl Iterator<Item = &'a Message>, pins: &Pins) -> Vec<usize> {
    if pins.is_empty() {
        return Vec::new();
    }
    let there: HashSet<Fingerprint> = after.map(Fingerprint::of).collect();
    let all = before.iter().enumerate().rev().map(|(at, message)| (Fingerprint::of(message), at));
    let mut gone: HashSet<Fingerprint> = HashSet::new();
    let mut lost: Vec<usize> = all
        .filter(|(one, _)| pins.has_fingerprint(*one) && !there.contains(one) && gone.insert(*one))
        .map(|(_, at)| at)
        .collect();
    lost.reverse();
    lost
}

impl Layout {
    /// With pinned messages kept as they are, wherever they stand, and with what else stays of the middle.
    pub(super) fn with_pinned(mut self, messages: &[Message], pinned: Vec<usize>) -> Self {
        self.discarded.retain(|at| pinned.binary_search(at).is_err());
        self.pinned = pinned;
        let middle = self.middle();
        let outside = self.outside.clone();
        for at in self.pinned.clone() {
            if let Some(message) = messages.get(at) {
                self.restore(at, &freed(message, middle.contains(&at)));
            }
        }
        self.kept = self.kept_of(messages, middle, outside);
        self
    }

    /// What stays of a middle where these stay, and what is pinned: in order, each beside somebody whom it can stand
    /// beside as far as the middle has one.
    pub(super) fn kept_of(&self, messages: &[Message], middle: Range<usize>, mut kept: Vec<usize>) -> Vec<usize> {
        kept.extend(self.pinned.iter().copied().filter(|at| middle.contains(at)));
        kept.sort_unstable();
        kept.dedup();
        if self.pinned.is_empty() && self.finished.is_empty() {
            return kept;
        }
        let next = kept.iter().copied().skip(1).chain([middle.end]);
        let between = kept.iter().zip(next).filter_map(|(&at, next)| companion(messages, at, next));
        let first = kept.first().and_then(|&first| leader(messages, &middle, first));
        let between: Vec<usize> = between.chain(first).collect();
        kept.extend(between);
        kept.sort_unstable();
        kept
    }
}

/// A message without the handoff in front of it, where a new one comes.
pub(super) fn freed(message: &Message, is_replaced: bool) -> Message {
    handoff::without_handoff(message).filter(|_| is_replaced).unwrap_or_else(|| message.clone())
}

/// What goes between the handoff and the first message that stays, where the handoff would go into that otherwise.
fn leader(messages: &[Message], middle: &Range<usize>, first: usize) -> Option<usize> {
    let before = middle.start.checked_sub(1).and_then(|at| messages.get(at)).map(Message::role);
    match handoff::placement(before, messages.get(first).map(Message::role)) {
        Placement::Merge => {
            let wanted = if messages.get(first)?.is(Role::User) { is_answer } else { is_said };
            (middle.start..first).rfind(|at| wanted(messages, *at))
        }
        Placement::User | Placement::Assistant => None,
    }
}

fn is_answer(messages: &[Message], at: usize) -> bool {
    messages.get(at).is_some_and(|message| {
        message.is(Role::Assistant) && message.tool_calls().is_empty() && !handoff::is_handoff(message)
    })
}

fn is_said(messages: &[Message], at: usize) -> bool {
    messages.get(at).is_some_and(|message| message.is(Role::User) && !handoff::is_handoff(message))
}

/// What goes between two messages that follow each other now, so that the model and somebody else take turns.
fn companion(messages: &[Message], at: usize, next: usize) -> Option<usize> {
    let (one, other) = (messages.get(at)?, messages.get(next)?);
    let mut between = (at + 1)..next;
    match (one.role(), other.role()) {
        (Role::User | Role::Tool, Role::User) => between.find(|at| is_answer(messages, *at)),
        (Role::Assistant, Role::Assistant) if one.tool_calls().is_empty() => between.rfind(|at| is_said(messages, *at)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
