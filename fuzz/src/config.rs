//! Input: any text as config.toml. It is refused with a message, or shown as a file with the same settings.

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    herma_daemon::fuzzing::config(text);
}
