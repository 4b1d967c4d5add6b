//! libFuzzer's program for the target `wire`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::wire::run(data));
