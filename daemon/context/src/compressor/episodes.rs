//! Closed episodes: their messages leave the list, however new they are.

use std::ops::Range;

use super::exchange::Exchange;
use super::layout::Layout;
use crate::episodes::Found;
use crate::handoff;
use crate::message::Message;

impl Layout {
    /// Records the messages of closed episodes. Messages of the head, the user's last message and the last
    /// exchange always stay.
    pub(super) fn finish(&mut self, messages: &[Message], episodes: Vec<Found>) {
        if episodes.is_empty() {
            return;
        }
        let exchange = Exchange::of(messages, self.start);
        let may_leave = |at: &usize| (self.start..exchange.from).contains(at) && Some(*at) != exchange.user;
        let mut finished: Vec<usize> = episodes.iter().flat_map(|one| one.range.clone()).filter(may_leave).collect();
        finished.sort_unstable();
        finished.dedup();
        (self.episodes, self.finished) = (episodes, finished);
    }

    /// Removes closed episodes from the ordinary tail. The messages before and between them there stay, after
    /// the handoff.
    pub(super) fn leave(&mut self, messages: &[Message]) {
        let Some(last) = self.finished.last().map(|last| last + 1).filter(|last| *last > self.middle().end) else {
            return;
        };
        let last = last.max(self.end);
        let user = Exchange::of(messages, self.start).user.filter(|user| (self.start..last).contains(user));
        let is_handoff = |at: usize| messages.get(at).is_some_and(handoff::is_only_handoff);
        let stays = (self.end.max(self.start)..last).filter(|at| self.finished.binary_search(at).is_err());
        self.outside = stays.filter(|at| !is_handoff(*at)).chain(user).collect();
        self.outside.sort_unstable();
        self.outside.dedup();
        (self.end, self.tail) = (last, last);
        for at in self.outside.clone() {
            if let Some(freed) = messages.get(at).and_then(handoff::without_handoff) {
                self.restore(at, &freed);
            }
        }
    }

    /// Returns the episodes of which messages leave, each with the number of these messages.
    pub(super) fn left(&self) -> impl Iterator<Item = (&Found, usize)> {
        let leaves = |range: &Range<usize>| {
            let middle = range.start.max(self.middle().start)..range.end.min(self.middle().end);
            middle.filter(|at| self.kept.binary_search(at).is_err()).count()
        };
        self.episodes.iter().map(move |one| (one, leaves(&one.range))).filter(|(_, left)| *left > 0)
    }
}

#[cfg(test)]
mod tests;
