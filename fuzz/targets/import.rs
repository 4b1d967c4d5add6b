//! libFuzzer's program for the target `import`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::import::run(data));
