//! libFuzzer's program for the target `config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::config::run(data));
