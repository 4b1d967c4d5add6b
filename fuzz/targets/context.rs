//! libFuzzer's program for the target `context`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::context::run(data));
