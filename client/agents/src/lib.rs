//! The agents that use herma: Claude Code, Codex and the Hermes family.
//!
//! * [`agent`] is what herma must know of an agent; [`claude_code`] and [`codex`] say it, and [`known`] lists them.
//! * [`hooks`] writes hooks into an agent's settings; [`hook`] answers the events that they report.
//! * [`proxy`] is between an agent and its model; [`hosts`] tells the MCP server which agent started it.
//! * [`programs`] are what settings start; [`settings`] edits their files.
//! * [`hermes`] installs the plugin for agents of the Hermes family.

pub mod agent;
mod answer;
pub mod claude_code;
pub mod codex;
pub mod event;
pub mod hermes;
pub mod hook;
pub mod hooks;
pub mod hosts;
pub mod known;
pub mod programs;
pub mod proxy;
pub mod settings;

#[cfg(feature = "fuzzing")]
pub use hermes::yaml_holds;
