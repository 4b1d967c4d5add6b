//! Messages that a compression must leave in the list.

use rayon::prelude::*;

use crate::fingerprint::Fingerprint;
use crate::message::Message;
use crate::pairs;
use crate::parallel::FEW_MESSAGES;

/// The fingerprints of a session's pinned messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(Vec<Fingerprint>);

impl Pins {
    /// Whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a message is pinned.
    pub fn has(&self, message: &Message) -> bool {
        !self.is_empty() && self.has_fingerprint(Fingerprint::of(message))
    }

    /// Returns the positions of the pinned messages of a list, in order: the newest of equal ones, and calls
    /// with all their results.
    pub fn positions(&self, messages: &[Message]) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
        let found =
            all.map(|(at, message)| (Fingerprint::of(message), at)).filter(|(one, _)| self.has_fingerprint(*one));
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

    pub(crate) fn has_fingerprint(&self, fingerprint: Fingerprint) -> bool {
        self.0.binary_search(&fingerprint).is_ok()
    }
}

impl FromIterator<Fingerprint> for Pins {
    fn from_iter<All: IntoIterator<Item = Fingerprint>>(all: All) -> Self {
        let mut all: Vec<Fingerprint> = all.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }
}
