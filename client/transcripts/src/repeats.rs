//! Messages that a program writes a second time into a file to which it only adds.

use std::collections::{HashSet, VecDeque};

/// The first messages of a file that are known for long; a compaction keeps them best.
const FIRST: usize = 32;

/// The newest ones that are known too.
const NEWEST: usize = 2_000;

/// What was read, so that what stands there again is known. What a program repeats has the time of the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeats {
    /// The oldest are in front.
    known: VecDeque<u64>,
    set: HashSet<u64>,
    /// Something may have been repeated: there was a compaction.
    begun: bool,
}

impl Repeats {
    /// What was noted by [`Self::keys`], and whether something may have been repeated since.
    #[must_use]
    pub fn of(known: Vec<u64>, begun: bool) -> Self {
        let set = known.iter().copied().collect();
        Self { known: known.into(), set, begun }
    }

    /// To be noted, oldest first, and whether something may have been repeated.
    #[must_use]
    pub fn keys(&self) -> (Vec<u64>, bool) {
        (self.known.iter().copied().collect(), self.begun)
    }

    /// From here on something may be repeated.
    pub(crate) const fn begin(&mut self) {
        self.begun = true;
    }

    /// Whether a message was not read before; it is known from now on.
    pub(crate) fn is_new(&mut self, time: Option<f64>, message: &str) -> bool {
        let key = key(time, message);
        if !self.set.insert(key) {
            return !self.begun;
        }
        self.known.push_back(key);
        if self.known.len() > FIRST + NEWEST
            && let Some(old) = self.known.remove(FIRST)
        {
            self.set.remove(&old);
        }
        true
    }
}

/// A message by its time and its text: FNV-1a with 64 bits, the same in every version of the program.
fn key(time: Option<f64>, message: &str) -> u64 {
    let time = time.unwrap_or_default().to_bits().to_le_bytes();
    let bytes = time.iter().chain(message.as_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_a_compaction_can_be_repeated() {
        let mut repeats = Repeats::default();
        assert!(repeats.is_new(Some(1.0), "a"));
        assert!(repeats.is_new(Some(1.0), "a"));
        repeats.begin();
        let mut later = Repeats::of(repeats.keys().0, true);
        for repeats in [&mut repeats, &mut later] {
            assert!(!repeats.is_new(Some(1.0), "a"));
            assert!(repeats.is_new(Some(2.0), "a"));
            assert!(repeats.is_new(Some(1.0), "b"));
        }
    }

    #[test]
    fn the_first_and_the_newest_are_known() {
        let mut repeats = Repeats::default();
        for number in 0..5_000 {
            assert!(repeats.is_new(None, &number.to_string()));
        }
        repeats.begin();
        assert_eq!(repeats.keys().0.len(), FIRST + NEWEST);
        for (number, is_new) in [(0, false), (31, false), (32, true), (2_000, true), (4_999, false)] {
            assert_eq!(repeats.is_new(None, &number.to_string()), is_new, "{number}");
        }
    }
}
