//! libFuzzer's program for the target `output`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::output::run(data));
