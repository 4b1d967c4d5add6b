//! The list of agents that herma knows.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::agent::Agent;
use crate::claude_code::ClaudeCode;
use crate::codex::Codex;
use crate::gemini_cli::GeminiCli;
use crate::openclaw::OpenClaw;
use crate::opencode::OpenCode;
use crate::pi::{OH_MY_PI, PI};
use crate::qwen_code::QwenCode;

/// All agents that call hooks.
pub static AGENTS: [&dyn Agent; 8] = [&ClaudeCode, &Codex, &QwenCode, &GeminiCli, &PI, &OH_MY_PI, &OpenCode, &OpenClaw];

/// Returns the agent with this name in the client info of an MCP server.
#[must_use]
pub fn by_mcp_name(name: &str) -> Option<&'static dyn Agent> {
    AGENTS.into_iter().find(|agent| agent.mcp_name() == name)
}

/// Returns the parser of an agent's name on the command line.
#[must_use]
pub fn parser() -> impl TypedValueParser<Value = &'static dyn Agent> {
    let values = AGENTS.map(|agent| PossibleValue::new(agent.name()).help(agent.title()));
    PossibleValuesParser::new(values)
        .try_map(|name| AGENTS.into_iter().find(|agent| agent.name() == name).ok_or("there is no such agent"))
}
