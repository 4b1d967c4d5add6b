//! libFuzzer's program for the target `journal`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::journal::run(data));
