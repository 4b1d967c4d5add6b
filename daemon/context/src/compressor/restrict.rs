//! A range of positions that the caller chose: no message outside of it leaves the list.

use std::ops::Range;

use super::exchange::Exchange;
use super::layout::Layout;
use super::pinned::freed;
use crate::handoff;
use crate::message::{Message, Role};
use crate::pairs;
use crate::run::Rejection;

impl Layout {
    /// Makes this range the middle, without the head and the last exchange; pairs stay whole. An earlier
    /// handoff before the range is replaced too. The messages between it and the range stay, after the new
    /// handoff.
    pub(super) fn restrict(&mut self, messages: &[Message], range: &Range<usize>) -> Result<(), Rejection> {
        let exchange = Exchange::of(messages, self.start);
        let open = pairs::in_flight(messages).unwrap_or(messages.len());
        let end = range.end.min(exchange.from).min(open);
        let is_result = |at: usize| messages.get(at).is_some_and(|message| message.is(Role::Tool));
        let end = (0..=end).rev().find(|at| !is_result(*at)).unwrap_or(0);
        let from = range.start.max(self.start);
        let from = (from..end).find(|at| !is_result(*at)).unwrap_or(end);
        if from >= end {
            return Err(Rejection::NothingBetween);
        }
        let earlier = (self.start..from).rev().find(|&at| messages.get(at).is_some_and(handoff::is_handoff));
        self.start = earlier.unwrap_or(from);
        (self.end, self.tail) = (end, end);
        // A message into which an earlier handoff was merged stays, without the handoff.
        let alone = earlier.filter(|&at| messages.get(at).is_some_and(handoff::is_only_handoff));
        let before = alone.map(|at| at + 1).or(earlier).unwrap_or(from)..from;
        let user = exchange.user.filter(|at| (from..end).contains(at));
        self.outside = before.chain(user).collect();
        // Messages that stay are not shortened either.
        let leaves = |at: &usize| Some(*at) == alone || ((from..end).contains(at) && Some(*at) != user);
        for (at, message) in messages.iter().enumerate().filter(|(at, _)| !leaves(at)) {
            let is_replaced = self.middle().contains(&at);
            self.restore(at, &freed(message, is_replaced));
        }
        self.discarded.retain(leaves);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
