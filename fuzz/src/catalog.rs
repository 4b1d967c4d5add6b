//! Input: the lines of a catalog of outputs.

use crate::lines;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    herma_spill::fuzzing::catalog(&lines(bytes).collect::<Vec<_>>());
}
