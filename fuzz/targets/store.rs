//! libFuzzer's program for the target `store`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::store::run(data));
