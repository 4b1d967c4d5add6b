//! Compressions in a row, without a model call between them.

use serde::{Deserialize, Serialize};

/// The number of attempts to recover one request that can help (C33).
const HELPFUL: u32 = 3;

/// How often a session was compressed since its last model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConsecutiveRuns {
    runs: u32,
    /// The number of messages in the list after the last compression.
    messages: usize,
}

impl ConsecutiveRuns {
    /// Counts a compression with the number of messages before and after it. Returns true if there are too many.
    pub(crate) fn count(&mut self, before: usize, after: usize) -> bool {
        self.runs = if before > self.messages { 1 } else { self.runs.saturating_add(1) };
        self.messages = after;
        self.runs > HELPFUL
    }

    /// Resets the count, because a call to a model succeeded.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_in_a_row_does_not_help() {
        let mut streak = ConsecutiveRuns::default();
        let counted = |streak: &mut ConsecutiveRuns, runs: &[(usize, usize)]| -> Vec<bool> {
            runs.iter().map(|(before, after)| streak.count(*before, *after)).collect()
        };
        assert_eq!(counted(&mut streak, &[(90, 30), (30, 25), (25, 25), (25, 25)]), [false, false, false, true]);
        assert_eq!(counted(&mut streak, &[(26, 20), (20, 20), (20, 20), (20, 20)]), [false, false, false, true]);
        streak.end();
        assert_eq!(counted(&mut streak, &[(20, 20)]), [false]);
    }
}
