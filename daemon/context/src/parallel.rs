//! How work on a list is split among processors. The results never depend on it.

/// Messages that one processor takes at a time; to hand out fewer costs more than it gains.
pub(crate) const FEW_MESSAGES: usize = 32;

/// Messages that one processor takes where what comes of them has to be put together again.
pub(crate) const MANY_MESSAGES: usize = 256;

/// Texts of which each sentence is weighed, that one processor takes at a time.
pub(crate) const FEW_TEXTS: usize = 8;

/// Lines that one processor takes at a time.
pub(crate) const FEW_LINES: usize = 256;
