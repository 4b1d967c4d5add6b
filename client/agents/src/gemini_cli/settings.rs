//! Reads and edits Gemini CLI's settings: `~/.gemini/settings.json`, or `.gemini` below `$GEMINI_CLI_HOME`.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use serde_json::{Value, json};

use super::GeminiCli;
use crate::agent::Agent;
use crate::event::EventName;
use crate::settings::edit::{Edit, Kind};
use crate::settings::wanted::{self, HermaEntries, Scope, current_folder, user_home};
use crate::settings::{SERVER, files, json};

/// The name of the settings in a folder.
const SETTINGS: &str = "settings.json";

/// The name of the folder in a home and in a project.
const FOLDER: &str = ".gemini";

/// Returns the folder of the user's settings.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    let home = wanted::folder("GEMINI_CLI_HOME").map_or_else(user_home, Ok)?;
    Ok(home.join(FOLDER))
}

fn path(scope: Scope) -> Result<PathBuf, Failure> {
    let folder = match scope {
        Scope::User => folder()?,
        Scope::Project => current_folder()?.join(FOLDER),
    };
    Ok(folder.join(SETTINGS))
}

/// Returns the programs of the hooks and of the MCP server in the user's settings.
pub(super) fn programs() -> Vec<String> {
    path(Scope::User).map(|path| files::programs(&path, &path, GeminiCli.name())).unwrap_or_default()
}

/// Returns the commands of herma's hooks in the settings of a project.
pub(super) fn hooks_of_project(project: &Path) -> Vec<String> {
    files::commands_of_project(&project.join(FOLDER).join(SETTINGS), GeminiCli.name())
}

/// Returns the edits that install herma in Gemini CLI's settings, or uninstall it.
pub(super) fn edits(scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    let hooks: Vec<(&str, Value)> = wanted.map(hooks).unwrap_or_default();
    let server = wanted.map(|wanted| json!({ "command": wanted.program, "args": wanted.server() }));
    let edit = Edit::of(&path(scope)?, Kind::Json, reinstall, |text| changed(text, &hooks, server.as_ref()));
    Ok(vec![edit?])
}

/// Returns the hooks by the names that Gemini CLI has for the events.
fn hooks(wanted: &HermaEntries) -> Vec<(&'static str, Value)> {
    let hook = |(event, seconds): &(EventName, u32)| {
        let command = wanted.command(GeminiCli.name(), *event);
        let hook = json!({ "name": SERVER, "type": "command", "command": command, "timeout": seconds * 1_000 });
        (GeminiCli.event_name(*event), json!({ "hooks": [hook] }))
    };
    GeminiCli.events().iter().map(hook).collect()
}

fn changed(text: &str, hooks: &[(&str, Value)], server: Option<&Value>) -> Result<String, String> {
    json::with_server(&json::with_hooks(text, GeminiCli.name(), hooks)?, SERVER, server)
}

fn reinstall(installed: &str, text: &str) -> Result<String, String> {
    let text = json::with_hooks_of(installed, text, GeminiCli.name())?;
    json::with_server(&text, SERVER, json::server(installed, SERVER)?.as_ref())
}
