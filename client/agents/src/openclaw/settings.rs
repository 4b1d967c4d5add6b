//! Finds OpenClaw's folder, and herma's files in it.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use serde_json::json;

use super::config::{changed, reinstall};
use crate::settings::edit::{Edit, Kind};
use crate::settings::script::Script;
use crate::settings::wanted::{self, HermaEntries, Scope, user_home};

/// The context engine, and the files next to it by which OpenClaw finds it.
pub(super) const ENGINE: Script = Script {
    agent: "openclaw",
    text: include_str!("engine.js"),
    of_project: ".openclaw",
    path: "extensions/herma/index.js",
};
const FILES: [(&str, &str); 2] = [
    ("extensions/herma/package.json", include_str!("package.json")),
    ("extensions/herma/openclaw.plugin.json", include_str!("openclaw.plugin.json")),
];

/// What all versions of these files contain.
const MARK: &str = "herma hooks install openclaw";

/// The file of the configuration.
const CONFIG: &str = "openclaw.json";

/// Returns the folder of the user's configuration.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match wanted::folder("OPENCLAW_STATE_DIR") {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".openclaw")),
    }
}

/// Returns the file of the configuration in a folder.
pub(super) fn config(folder: &Path) -> PathBuf {
    folder.join(CONFIG)
}

/// Returns the edits that install herma, or uninstall it.
pub(super) fn edits(scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    if scope == Scope::Project {
        return Err(Failure::Usage("OpenClaw has no settings of a project".into()));
    }
    let folder = folder()?;
    let server = wanted.map(|wanted| json!({ "command": wanted.program, "args": wanted.server() }));
    let mut edits = ENGINE.edits(scope, &folder, wanted)?;
    for (path, text) in FILES {
        edits.push(Edit::own(&folder.join(path), wanted.map(|_| text.to_owned()), MARK)?);
    }
    let edit = Edit::of(&config(&folder), Kind::Json, reinstall, |text| changed(text, server.as_ref()));
    edits.push(edit?);
    Ok(edits)
}
