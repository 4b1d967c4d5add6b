//! libFuzzer's program for the target `trajectory`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::trajectory::run(data));
