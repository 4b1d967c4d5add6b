//! libFuzzer's program for the target `mcp`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| herma_fuzz::mcp::run(data));
