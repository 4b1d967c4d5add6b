//! The folder of an agent in the home, where hooks note what they know between two events.

use std::path::{Path, PathBuf};

use crate::agent::Agent;

/// The folder in it with the notes on the agent's processes.
pub(super) const PROCESSES: &str = "processes";

/// Returns the folder of an agent.
pub(super) fn folder(home: &Path, agent: &dyn Agent) -> PathBuf {
    of_all(home).join(agent.name())
}

/// Returns the folder with those of all agents.
pub(super) fn of_all(home: &Path) -> PathBuf {
    home.join("herma").join("clients")
}
