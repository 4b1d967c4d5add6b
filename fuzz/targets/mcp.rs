//! Any line that an MCP client may write.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| herma_commands::fuzzing::line_holds(line));
