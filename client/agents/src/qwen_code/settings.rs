//! Reads and edits Qwen Code's settings. Its folder is `~/.qwen`, or `$QWEN_HOME`.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use serde_json::{Value, json};

use super::QwenCode;
use crate::agent::Agent;
use crate::settings::edit::{Edit, Kind};
use crate::settings::json::{self, READS_OUTPUTS};
use crate::settings::wanted::{self, HermaEntries, Scope, current_folder, user_home};
use crate::settings::{SERVER, files};

/// The name of the settings in a folder.
const SETTINGS: &str = "settings.json";

/// The name of the folder in a project.
const OF_PROJECT: &str = ".qwen";

/// Returns the folder of the user's settings.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match wanted::folder("QWEN_HOME") {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".qwen")),
    }
}

/// Returns the folder with the transcripts of all projects.
pub(super) fn transcripts() -> Option<PathBuf> {
    let folder = wanted::folder("QWEN_RUNTIME_DIR").or_else(|| folder().ok())?;
    Some(folder.join("projects"))
}

fn path(scope: Scope) -> Result<PathBuf, Failure> {
    let folder = match scope {
        Scope::User => folder()?,
        Scope::Project => current_folder()?.join(OF_PROJECT),
    };
    Ok(folder.join(SETTINGS))
}

/// Returns the programs of the hooks and of the MCP server in the user's settings.
pub(super) fn programs(agent: &str) -> Vec<String> {
    path(Scope::User).map(|path| files::programs(&path, &path, agent)).unwrap_or_default()
}

/// Returns the commands of herma's hooks in the settings of a project.
pub(super) fn hooks_of_project(agent: &str, project: &Path) -> Vec<String> {
    files::commands_of_project(&project.join(OF_PROJECT).join(SETTINGS), agent)
}

/// Returns the settings files that switch all hooks off: the user's, or those of the current folder.
pub(super) fn switched_off_by(scope: Scope) -> Vec<PathBuf> {
    files::switched_off_by(path(scope).into_iter().chain([PathBuf::from(OF_PROJECT).join(SETTINGS)]))
}

/// Returns the edits that install herma in Qwen Code's settings, or uninstall it.
pub(super) fn edits(agent: &QwenCode, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    let hooks = wanted.map(|wanted| wanted.hooks(agent.name(), agent.events())).unwrap_or_default();
    let allowed: Vec<String> = wanted.map(|_| READS_OUTPUTS.to_owned()).into_iter().collect();
    let server = wanted.map(|wanted| json!({ "command": wanted.program, "args": wanted.server() }));
    let edit = Edit::of(&path(scope)?, Kind::Json, reinstall, |text| changed(text, &hooks, &allowed, server.as_ref()));
    Ok(vec![edit?])
}

fn changed(text: &str, hooks: &[(&str, Value)], allowed: &[String], server: Option<&Value>) -> Result<String, String> {
    let text = json::with_hooks(text, QwenCode.name(), hooks)?;
    json::with_server(&json::with_permissions(&text, allowed)?, SERVER, server)
}

fn reinstall(installed: &str, text: &str) -> Result<String, String> {
    let text = json::with_hooks_of(installed, text, QwenCode.name())?;
    let text = json::with_permissions(&text, &json::permissions(installed)?)?;
    json::with_server(&text, SERVER, json::server(installed, SERVER)?.as_ref())
}
