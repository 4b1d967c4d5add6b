//! Any text: no panic, and every span lies in it.

#![no_main]

use herma_guard::{RedactOptions, Scope, redact, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let chars = text.chars().count();
    for finding in scan(text, Scope::Strict) {
        assert!(finding.start < finding.end && finding.end <= chars);
    }
    drop(redact(text, RedactOptions::default()));
});
