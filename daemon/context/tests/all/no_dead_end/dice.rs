//! Pseudorandom numbers that are the same in every run.

/// A generator with a seed (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `low` on and below `high`; `low` if there is none.
    pub(crate) fn within(&mut self, low: usize, high: usize) -> usize {
        let span = high.saturating_sub(low).max(1);
        low + usize::try_from(self.next() % span as u64).unwrap()
    }

    /// Returns true in one of `of` cases.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.within(0, of) == 0
    }
}
