//! The settings files of agents: herma's entries in them, and how they are edited.
//!
//! * `json` edits a text and leaves the rest of it unchanged. It does no I/O.
//! * `script` installs a script that calls hooks, for agents without hooks in their settings.
//! * `files` reads what herma has in them.
//! * [`wanted`] builds herma's entries. [`edit`] shows an edit, keeps a copy of the file and writes it.

pub mod edit;
pub(crate) mod files;
pub(crate) mod json;
pub(crate) mod script;
pub mod wanted;

/// The name of the MCP server; its tools are `mcp__herma__…`.
pub(crate) const SERVER: &str = "herma";
