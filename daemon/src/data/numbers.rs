//! Counts between memory and the wire.

/// A count of something in memory.
pub(crate) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A count that came from outside, as far as memory can have so many.
pub(crate) fn narrow(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
