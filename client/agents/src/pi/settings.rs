//! Finds the folders of pi and of Oh My Pi, and herma's files in them.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use serde_json::{Value, json};

use super::Variant;
use crate::settings::edit::{Edit, Kind};
use crate::settings::wanted::{self, HermaEntries, Scope, current_folder, user_home};
use crate::settings::{SERVER, files, json};

/// The extension.
pub(super) const EXTENSION: &str = include_str!("extension.js");
/// The place of the extension in a folder of settings.
pub(super) const PLACE: &str = "extensions/herma.js";

/// The variables that both agents have for other folders.
const FOLDER: &str = "PI_CODING_AGENT_DIR";
const SESSIONS: &str = "PI_CODING_AGENT_SESSION_DIR";

/// A file that only Oh My Pi makes in its folder.
const OF_OH_MY_PI: &str = "agent.db";

impl Variant {
    /// Returns the folder of the user's settings.
    pub(super) fn folder(&self) -> Result<PathBuf, Failure> {
        let is_own = |folder: &PathBuf| folder.join(OF_OH_MY_PI).exists() == self.servers.is_some();
        match wanted::folder(FOLDER).filter(is_own) {
            Some(own) => Ok(own),
            None => Ok(user_home()?.join(self.extension.of_project).join("agent")),
        }
    }

    /// Returns the folders with the transcripts of all projects.
    pub(super) fn transcripts(&self) -> Vec<PathBuf> {
        let elsewhere = match self.servers {
            None => wanted::folder(SESSIONS),
            // Its folders are below those of the XDG specification if the user has made them.
            Some(_) => {
                wanted::folder("XDG_DATA_HOME").map(|data| data.join("omp/sessions")).filter(|path| path.exists())
            }
        };
        elsewhere.or_else(|| Some(self.folder().ok()?.join("sessions"))).into_iter().collect()
    }

    /// Returns the edits that install herma, or uninstall it.
    pub(super) fn edits(&self, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
        let folder = self.folder()?;
        let mut edits = self.extension.edits(scope, &folder, wanted)?;
        if let Some(servers) = self.servers {
            let folder = match scope {
                Scope::User => folder,
                Scope::Project => current_folder()?.join(self.extension.of_project),
            };
            let server = wanted.map(|wanted| json!({ "command": wanted.program, "args": wanted.server() }));
            let change = |text: &str| json::with_server(text, SERVER, server.as_ref());
            edits.push(Edit::of(&folder.join(servers), Kind::Json, reinstall, change)?);
        }
        Ok(edits)
    }

    /// Returns the programs that the user's own files start.
    pub(super) fn programs(&self, folder: &Path) -> Vec<String> {
        let mut found = self.extension.programs(folder);
        let servers = self.servers.map(|servers| folder.join(servers));
        found.extend(servers.into_iter().flat_map(|path| files::programs(&path, &path, self.extension.agent)));
        found
    }
}

fn reinstall(installed: &str, text: &str) -> Result<String, String> {
    let server: Option<Value> = json::server(installed, SERVER)?;
    json::with_server(text, SERVER, server.as_ref())
}
