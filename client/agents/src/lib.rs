//! The agents that use herma: Claude Code, Codex, Qwen Code, Gemini CLI, pi, Oh My Pi, OpenCode, OpenClaw and the Hermes family.
//!
//! * [`agent`] has the properties of an agent that herma needs. [`claude_code`], [`codex`], [`qwen_code`], [`gemini_cli`], [`pi`],
//!   [`opencode`] and [`openclaw`] implement it, and [`known`] lists them.
//! * [`hooks`] writes hooks into an agent's settings. [`hook`] answers the events that they report.
//! * [`proxy`] forwards requests from an agent to its model. [`hosts`] answers the MCP server's questions about the agent that
//!   started it.
//! * `compression` compresses a session as the compaction of an agent.
//! * [`installation`] finds an agent on this machine, installs herma for it, and sends it a test event.
//! * [`continuation`] writes the prompt with which another agent goes on with a session.
//! * [`lasting`] copies the program out of a cache, so that settings may name it.
//! * [`programs`] finds the programs that settings start. [`settings`] edits the settings files.
//! * [`hermes`] installs the plugin for agents of the Hermes family.

pub mod agent;
mod answer;
pub mod claude_code;
pub mod codex;
mod compression;
pub mod continuation;
pub mod event;
pub mod gemini_cli;
pub mod hermes;
pub mod hook;
pub mod hooks;
pub mod hosts;
pub mod installation;
pub mod known;
pub mod lasting;
pub mod openclaw;
pub mod opencode;
pub mod pi;
pub mod programs;
pub mod proxy;
pub mod qwen_code;
mod rows;
pub mod settings;
pub mod version;

#[cfg(feature = "fuzzing")]
pub use hermes::yaml_holds;
