//! libFuzzer's program for the target `catalog`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::catalog::run(data));
