//! libFuzzer's program for the target `words`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::words::run(data));
