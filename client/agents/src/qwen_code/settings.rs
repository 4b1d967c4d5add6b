//! Reads and edits Qwen Code's settings. Its folder is `~/.qwen`, or `$QWEN_HOME`.

use std::path::{Path, PathBuf};

use herma_base::{Failure, own_file};
use serde_json::{Value, json};

use super::QwenCode;
use crate::agent::Agent;
use crate::settings::SERVER;
use crate::settings::edit::{Edit, Kind};
use crate::settings::json::{self, READS_OUTPUTS};
use crate::settings::wanted::{self, HermaEntries, Scope, user_home};

/// The name of the settings in a folder.
const SETTINGS: &str = "settings.json";

/// The name of the folder in a project.
const OF_PROJECT: &str = ".qwen";

/// The most bytes of a project's settings that are read.
const LARGEST: u64 = 4 << 20;

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
        Scope::Project => {
            std::env::current_dir().map_err(|error| Failure::File(format!("this folder: {error}")))?.join(OF_PROJECT)
        }
    };
    Ok(folder.join(SETTINGS))
}

/// Returns the programs of the hooks and of the MCP server in the user's settings.
pub(super) fn programs(agent: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(path(Scope::User).ok()?).ok()?;
    let mut found = json::programs(&text, agent).unwrap_or_default();
    let server = json::server(&text, SERVER).ok().flatten();
    found.extend(server.and_then(|server| Some(server.get("command")?.as_str()?.to_owned())));
    Some(found)
}

/// Returns the commands of herma's hooks in the settings of a project.
pub(super) fn hooks_of_project(agent: &str, project: &Path) -> Option<Vec<String>> {
    let text = own_file::read(&project.join(OF_PROJECT).join(SETTINGS), LARGEST).ok()?;
    json::commands(std::str::from_utf8(&text).ok()?, agent).ok()
}

/// Returns the settings files that switch all hooks off: the user's, or those of the current folder.
pub(super) fn switched_off_by(scope: Scope) -> Vec<PathBuf> {
    let here = PathBuf::from(OF_PROJECT).join(SETTINGS);
    let mut found: Vec<PathBuf> = path(scope).into_iter().chain([here]).collect();
    found.retain(|path| std::fs::read_to_string(path).is_ok_and(|text| json::are_off(&text)));
    found.dedup();
    found
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
