//! The daemon's ids of a client's sessions.

use std::path::Path;

use herma_base::kept::name;

use crate::hook::event::{Client, is_id};
use crate::hook::process::{self, Current, Kind};
use crate::hook::state;

/// Returns the daemon's id of a client's session; `None` if no hook noted the session.
pub(crate) fn of_id(home: &Path, client: Client, id: &str) -> Option<String> {
    let is_noted = is_id(id) && state::folder(home, client).join(format!("{id}.json")).is_file();
    is_noted.then(|| session(client, id, state::rewritten(home, client, id)))
}

/// Returns the daemon's id of the session that a client's process has; `None` if no hook noted it.
pub(crate) fn of_process(home: &Path, client: Client, process: u32) -> Option<String> {
    let current: Current = process::read(home, client, process, Kind::Session)?;
    of_id(home, client, &current.id)
}

/// Returns the daemon's id of a session whose transcript was rewritten that many times.
pub(super) fn session(client: Client, id: &str, rewritten: u32) -> String {
    name(&format!("{}:{id}", client.name()), rewritten)
}
