//! The lines of a catalog of outputs.

#![no_main]

use herma_fuzz::lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| herma_spill::fuzzing::catalog(&lines(bytes).collect::<Vec<_>>()));
