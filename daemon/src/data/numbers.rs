//! Conversions between counts in memory and on the wire.

/// Converts a count in memory, saturating.
pub(crate) fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Converts a count from outside, saturating at the largest count in memory.
pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
