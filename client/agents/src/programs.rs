//! The programs that the settings of agents start.

use std::path::Path;

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
    installed(agent).into_iter().find(|program| !is_program(program))
}

/// Returns whether a shell would find this program.
fn is_program(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}
