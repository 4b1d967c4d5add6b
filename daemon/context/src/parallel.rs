//! How work on a list is split among processors. The results never depend on it.

/// Messages that one processor takes at a time; to hand out fewer costs more than it gains.
pub(crate) const FEW_MESSAGES: usize = 32;

/// Lines that one processor takes at a time.
pub(crate) const FEW_LINES: usize = 256;
