//! Input: any text. There is no panic, and every span is within the text.

use herma_guard::{RedactOptions, Scope, redact, scan};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let chars = text.chars().count();
    for finding in scan(text, Scope::Strict) {
        assert!(finding.start < finding.end && finding.end <= chars);
    }
    drop(redact(text, RedactOptions::default()));
}
