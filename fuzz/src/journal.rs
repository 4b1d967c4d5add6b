//! Input: the lines of a journal, the text of a store, and two changes of one text to merge.

use herma_memory::fuzzing;

use crate::lines;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    lines(bytes).for_each(|line| fuzzing::journal_line(&line));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    fuzzing::store_text(text);
    fuzzing::pending_write(text);
    let mut parts = text.splitn(3, '\0');
    let mut next = || parts.next().unwrap_or_default();
    fuzzing::merged(next(), next(), next());
}
