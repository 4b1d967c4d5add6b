//! libFuzzer's program for the target `guard`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::guard::run(data));
