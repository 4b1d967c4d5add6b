//! Finds pi's folders, and herma's extension in them.

use std::path::PathBuf;

use herma_base::Failure;

use crate::settings::script::Script;
use crate::settings::wanted::{self, user_home};

/// The extension. It also starts the MCP server.
pub(super) const EXTENSION: Script =
    Script { agent: "pi", text: include_str!("extension.js"), of_project: ".pi", path: "extensions/herma.js" };

/// Returns the folder of the user's settings.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match wanted::folder("PI_CODING_AGENT_DIR") {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".pi/agent")),
    }
}

/// Returns the folder with the transcripts of all projects.
pub(super) fn transcripts() -> Option<PathBuf> {
    wanted::folder("PI_CODING_AGENT_SESSION_DIR").or_else(|| Some(folder().ok()?.join("sessions")))
}
