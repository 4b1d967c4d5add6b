//! The daemon's ids of an agent's sessions.

use std::path::Path;

use herma_base::kept::name;

use crate::agent::Agent;
use crate::event::is_id;
use crate::hook::folder::folder;
use crate::hook::process::{self, Kind, ProcessSession};
use crate::hook::state;

/// Returns the daemon's id of an agent's session, or `None` if no hook saved notes about it.
pub(crate) fn of_id(home: &Path, agent: &dyn Agent, id: &str) -> Option<String> {
    let is_noted = is_id(id) && folder(home, agent).join(format!("{id}.json")).is_file();
    is_noted.then(|| session(agent, id, state::rewritten(home, agent, id)))
}

/// Returns the daemon's id of the current session of an agent's process, or `None` if no hook saved it.
pub(crate) fn of_process(home: &Path, agent: &dyn Agent, process: u32) -> Option<String> {
    let current: ProcessSession = process::read(home, agent, process, Kind::Session)?;
    of_id(home, agent, &current.id)
}

/// Returns the daemon's id of a session whose transcript was rewritten that many times.
pub(super) fn session(agent: &dyn Agent, id: &str, rewritten: u32) -> String {
    name(&format!("{}:{id}", agent.name()), rewritten)
}
