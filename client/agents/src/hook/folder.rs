//! The folder of an agent in the home, where hooks save their state between two events.

use std::path::{Path, PathBuf};

use crate::agent::Agent;

/// The folder in it with the notes about the agent's processes.
pub(super) const PROCESSES: &str = "processes";

/// Returns the folder of an agent.
pub(super) fn folder(home: &Path, agent: &dyn Agent) -> PathBuf {
    of_all(home).join(agent.name())
}

/// Returns the folder with the folders of all agents.
pub(super) fn of_all(home: &Path) -> PathBuf {
    home.join("herma").join("clients")
}
