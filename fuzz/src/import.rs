//! Input: files that the command line reads, which are entries for the stores and the configuration of an agent.

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    herma_cli::import_holds(text);
    herma_agents::yaml_holds(text);
}
