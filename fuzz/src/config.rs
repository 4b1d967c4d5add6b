//! Any text as config.toml: it is refused in words, or shown as a file that says the same.

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    herma_daemon::fuzzing::config(text);
}
