//! How work on a list is split among processors. The results never depend on it.

/// Messages in one unit of parallel work; smaller units cost more than they gain.
pub(crate) const FEW_MESSAGES: usize = 32;

/// Messages in one unit of parallel work whose results must be merged.
pub(crate) const MANY_MESSAGES: usize = 256;

/// Texts in one unit of parallel work that ranks each sentence.
pub(crate) const FEW_TEXTS: usize = 8;

/// Lines in one unit of parallel work.
pub(crate) const FEW_LINES: usize = 256;
