//! libFuzzer's program for the target `handoff`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::handoff::run(data));
