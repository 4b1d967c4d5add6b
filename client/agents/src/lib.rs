//! The agents that use herma: Claude Code, Codex and the Hermes family.
//!
//! * [`hooks`] writes hooks into an agent's settings; [`hook`] answers the events that they report.
//! * [`proxy`] is between an agent and its model; [`hosts`] tells the MCP server which agent started it.
//! * [`hermes`] installs the plugin for agents of the Hermes family.

pub mod hermes;
pub mod hook;
pub mod hooks;
pub mod hosts;
pub mod proxy;

#[cfg(feature = "fuzzing")]
pub use hermes::yaml_holds;
