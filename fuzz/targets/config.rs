//! Any text as config.toml: it is refused in words, or shown as a file that says the same.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| herma_daemon::fuzzing::config(text));
