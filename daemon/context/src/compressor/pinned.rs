//! Pinned messages: they stay behind the handoff as they are, with what they can't stand without.

use std::collections::HashSet;
use std::ops::Range;

use rayon::prelude::*;

use super::layout::Layout;
use crate::handoff;
use crate::message::{Message, Role};
use crate::pairs;
use crate::parallel::FEW_MESSAGES;
use crate::pins::{Fingerprint, Pins};
use crate::tokens::Measure;

/// Positions of the pinned messages of a list, in order: of equal ones the newest, and calls with all their results.
pub(super) fn positions(messages: &[Message], pins: &Pins) -> Vec<usize> {
    if pins.is_empty() {
        return Vec::new();
    }
    let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
    let found = all.map(|(at, message)| (Fingerprint::of(message), at)).filter(|(one, _)| pins.has_fingerprint(*one));
    let mut found: Vec<(Fingerprint, usize)> = found.collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.dedup_by_key(|(fingerprint, _)| *fingerprint);
    let mut pinned: Vec<usize> = found.into_iter().map(|(_, at)| at).collect();
    if pinned.is_empty() {
        return pinned;
    }
    let callers: Vec<Option<usize>> =
        pairs::callers(messages).into_iter().map(|caller| caller.map(|(at, _)| at)).collect();
    let calls: Vec<usize> = pinned.iter().map(|&at| callers.get(at).copied().flatten().unwrap_or(at)).collect();
    let results = callers.iter().enumerate().filter(|(_, caller)| caller.is_some_and(|at| calls.contains(&at)));
    pinned.extend(results.map(|(at, _)| at).chain(calls.iter().copied()));
    pinned.sort_unstable();
    pinned.dedup();
    pinned
}

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
    /// Keeps pinned messages, wherever they stand, as they are.
    pub(super) fn pin(&mut self, messages: &[Message], pinned: Vec<usize>) {
        self.pinned = pinned;
        let middle = self.middle();
        let held = self.held.clone();
        for &at in &self.pinned {
            let (Some(message), Some(pruned), Some(measure)) =
                (messages.get(at), self.pruned.get_mut(at), self.measures.get_mut(at))
            else {
                continue;
            };
            if !pruned.same(message) {
                self.pruned_count = self.pruned_count.saturating_sub(usize::from(message.is(Role::Tool)));
            }
            *pruned = freed(message, middle.contains(&at));
            *measure = Measure::of(pruned);
        }
        self.kept = self.kept_of(messages, middle, held);
    }

    /// What stays of a middle where these stay, and what is pinned: in order, each beside somebody whom it can stand
    /// beside as far as the middle has one.
    pub(super) fn kept_of(&self, messages: &[Message], middle: Range<usize>, mut kept: Vec<usize>) -> Vec<usize> {
        kept.extend(self.pinned.iter().copied().filter(|at| middle.contains(at)));
        kept.sort_unstable();
        kept.dedup();
        if self.pinned.is_empty() {
            return kept;
        }
        let next = kept.iter().copied().skip(1).chain([middle.end]);
        let between: Vec<usize> =
            kept.iter().zip(next).filter_map(|(&at, next)| companion(messages, at, next)).collect();
        kept.extend(between);
        kept.sort_unstable();
        kept
    }
}

/// A message without the handoff in front of it, where a new one comes.
fn freed(message: &Message, is_replaced: bool) -> Message {
    handoff::without_handoff(message).filter(|_| is_replaced).unwrap_or_else(|| message.clone())
}

/// What goes between two messages that follow each other now, so that the model and somebody else take turns.
fn companion(messages: &[Message], at: usize, next: usize) -> Option<usize> {
    let speaks = |at: usize| messages.get(at);
    let is_answer =
        |at: &usize| speaks(*at).is_some_and(|message| message.is(Role::Assistant) && message.tool_calls().is_empty());
    let is_said = |at: &usize| speaks(*at).is_some_and(|message| message.is(Role::User));
    let (one, other) = (speaks(at)?, speaks(next)?);
    let mut between = (at + 1)..next;
    match (one.role(), other.role()) {
        (Role::User | Role::Tool, Role::User) => between.find(is_answer),
        (Role::Assistant, Role::Assistant) if one.tool_calls().is_empty() => between.rfind(is_said),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
