//! libFuzzer's program for the target `json`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::json::run(data));
