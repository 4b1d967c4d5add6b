//! libFuzzer's program for the target `query`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::query::run(data));
