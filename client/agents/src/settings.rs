//! Settings files of agents: what herma wants in them, and how they are edited.
//!
//! * [`json`] changes a text and leaves the rest of it as it is. It is pure.
//! * [`wanted`] is what the files must say; [`edit`] shows an edit, keeps a copy and writes.

pub mod edit;
pub(crate) mod json;
pub mod wanted;

/// The name of the MCP server; its tools are `mcp__herma__…`.
pub(crate) const SERVER: &str = "herma";
