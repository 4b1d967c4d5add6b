//! Pinned messages: they stay unchanged after the handoff, with the messages that must be next to them.

use std::collections::HashSet;
use std::ops::Range;

use super::layout::Layout;
use crate::fingerprint::Fingerprint;
use crate::handoff::{self, Placement};
use crate::message::{Message, Role};
use crate::pins::Pins;

/// Returns the positions of pinned messages that the new list lacks.
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
    /// Returns the layout with pinned messages kept unchanged, wherever they are, and with the other kept
    /// messages of the middle.
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

    /// Returns the positions of a middle that stay: the given ones and the pinned ones, in order. Further
    /// messages of the middle are added where otherwise two messages of one side would meet.
    pub(super) fn kept_of(&self, messages: &[Message], middle: Range<usize>, mut kept: Vec<usize>) -> Vec<usize> {
        kept.extend(self.pinned.iter().copied().filter(|at| middle.contains(at)));
        kept.sort_unstable();
        kept.dedup();
        if self.pinned.is_empty() && self.finished.is_empty() && self.outside.is_empty() {
            return kept;
        }
        let next = kept.iter().copied().skip(1).chain([middle.end]);
        let between = kept.iter().zip(next).flat_map(|(&at, next)| companions(messages, at, next));
        // A message that is only outside a chosen range may have the handoff merged into it.
        let is_outside = |first: &usize| self.outside.contains(first) && self.pinned.binary_search(first).is_err();
        let first = kept.first().filter(|first| !is_outside(first));
        let first = first.and_then(|&first| leader(messages, &middle, first));
        let between: Vec<usize> = between.chain(first).collect();
        kept.extend(between);
        kept.sort_unstable();
        kept.dedup();
        self.drop_unseparated(messages, middle.end, &mut kept);
        kept
    }

    /// Drops pinned messages that would meet a message of their own side, if the middle has none to put
    /// between.
    fn drop_unseparated(&self, messages: &[Message], end: usize, kept: &mut Vec<usize>) {
        let is_pinned = |at: usize| self.pinned.binary_search(&at).is_ok() && !self.outside.contains(&at);
        let next = |kept: &[usize], place: usize| kept.get(place + 1).copied().unwrap_or(end);
        while let Some(place) = (0..kept.len()).find(|&place| {
            let (at, next) = (kept[place], next(kept, place));
            next > at + 1 && roles_collide(messages, at, next)
        }) {
            // Related messages are dropped together: the run of input messages that ends here, or the one
            // that begins after it.
            let is_run = |one: usize, other: usize| kept[one] + 1 == kept[other];
            let first = (1..=place).rev().find(|&at| !is_run(at - 1, at)).unwrap_or(0);
            let last = (place + 1..kept.len()).take_while(|&at| at == place + 1 || is_run(at - 1, at)).last();
            let before = first..place + 1;
            let behind = last.map_or(0..0, |last| place + 1..last + 1);
            let goes =
                [before, behind].into_iter().find(|run| !run.is_empty() && run.clone().all(|at| is_pinned(kept[at])));
            match goes {
                Some(run) => drop(kept.drain(run)),
                None => return,
            }
        }
    }
}

/// Returns a message without the handoff before its content, if a new one replaces that.
pub(super) fn freed(message: &Message, is_replaced: bool) -> Message {
    handoff::without_handoff(message).filter(|_| is_replaced).unwrap_or_else(|| message.clone())
}

/// Returns a message to put between the handoff and the first kept message, if the handoff would otherwise be
/// merged into it.
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

/// Returns messages to put between two messages that now follow each other. Then the model and others
/// alternate, and no question is followed by the answer to another question.
fn companions(messages: &[Message], at: usize, next: usize) -> Vec<usize> {
    let (Some(one), Some(other)) = (messages.get(at), messages.get(next)) else { return Vec::new() };
    let mut between = (at + 1)..next;
    // If there is no other message, an earlier handoff stays at its place.
    let is_of_model = |at: &usize| {
        messages.get(*at).is_some_and(|message| message.is(Role::Assistant) && message.tool_calls().is_empty())
    };
    let is_of_user = |at: &usize| messages.get(*at).is_some_and(|message| message.is(Role::User));
    let found = match (one.role(), other.role()) {
        (Role::User | Role::Tool, Role::User) => {
            [between.clone().find(|at| is_answer(messages, *at)).or_else(|| between.find(is_of_model)), None]
        }
        (Role::Assistant, Role::Assistant) if one.tool_calls().is_empty() => {
            [between.clone().rfind(|at| is_said(messages, *at)).or_else(|| between.rfind(is_of_user)), None]
        }
        (Role::User, Role::Assistant) => match between.clone().rfind(|at| is_said(messages, *at)) {
            Some(question) => [between.find(|at| *at < question && is_answer(messages, *at)), Some(question)],
            None => [None, None],
        },
        _ => [None, None],
    };
    // A question without the answer before it would directly follow the pinned question.
    match (one.role(), other.role(), found) {
        (Role::User, Role::Assistant, [None, _]) => Vec::new(),
        _ => found.into_iter().flatten().collect(),
    }
}

/// Whether two neighbouring messages are of one side, or a user message directly follows results.
fn roles_collide(messages: &[Message], at: usize, next: usize) -> bool {
    let (Some(one), Some(other)) = (messages.get(at), messages.get(next)) else { return false };
    match (one.role(), other.role()) {
        (Role::User | Role::Tool, Role::User) => true,
        (Role::Assistant, Role::Assistant) => one.tool_calls().is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
