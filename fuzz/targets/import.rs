//! Files that the command line reads: entries for the stores, and the configuration of a host.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    herma_commands::fuzzing::import_holds(text);
    herma_commands::fuzzing::yaml_holds(text);
});
