//! The programs that the settings of agents start.

use herma_base::search_path;

use crate::agent::Agent;

/// Returns the programs of herma that the user's settings of an agent start, each once.
#[must_use]
pub fn installed(agent: &dyn Agent) -> Vec<String> {
    let mut programs = agent.programs();
    programs.sort_unstable();
    programs.dedup();
    programs
}

/// Returns a program that the user's settings of an agent start and that a shell would not find.
#[must_use]
pub fn missing(agent: &dyn Agent) -> Option<String> {
    installed(agent).into_iter().find(|program| !search_path::has(program))
}
