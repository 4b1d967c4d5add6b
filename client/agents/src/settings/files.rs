//! Reads what herma has in the settings files of agents. A file that can't be read has nothing.

use std::path::{Path, PathBuf};

use herma_base::own_file;

use super::{SERVER, json};

/// The most bytes of a project's settings that are read.
const LARGEST: u64 = 4 << 20;

/// Returns the programs of an agent's hooks in `settings`, and of the MCP server in `servers`.
pub(crate) fn programs(settings: &Path, servers: &Path, agent: &str) -> Vec<String> {
    let text = |path: &Path| std::fs::read_to_string(path).ok();
    let mut found = text(settings).and_then(|text| json::programs(&text, agent).ok()).unwrap_or_default();
    let server = text(servers).and_then(|text| json::server(&text, SERVER).ok().flatten());
    found.extend(server.and_then(|server| Some(server.get("command")?.as_str()?.to_owned())));
    found
}

/// Returns the commands of an agent's hooks in the settings of a project, if they belong to the user.
pub(crate) fn commands_of_project(settings: &Path, agent: &str) -> Vec<String> {
    let text = own_file::read(settings, LARGEST).ok();
    let commands = text.and_then(|text| json::commands(std::str::from_utf8(&text).ok()?, agent).ok());
    commands.unwrap_or_default()
}

/// Returns those of the settings files that switch all hooks off.
pub(crate) fn switched_off_by(settings: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let is_off = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| json::are_off(&text));
    let mut found: Vec<PathBuf> = settings.into_iter().filter(is_off).collect();
    found.dedup();
    found
}
