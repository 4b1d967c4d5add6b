//! Files that the command line reads: entries for the stores, and the configuration of a host.

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    herma_commands::fuzzing::import_holds(text);
    herma_commands::fuzzing::yaml_holds(text);
}
