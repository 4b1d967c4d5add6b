//! libFuzzer's program for the target `transcripts`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::transcripts::run(data));
