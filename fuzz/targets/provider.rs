//! libFuzzer's program for the target `provider`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::provider::run(data));
