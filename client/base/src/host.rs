//! The MCP server's questions about the agent that started it. `herma-agents` answers them, so the server needs no code
//! for a particular agent.

use std::fmt::Debug;

/// The size of a tool's definition.
#[derive(Debug, Clone, Copy)]
pub struct ToolSize {
    /// Chars of its name.
    pub name: usize,
    /// Chars of its whole definition.
    pub whole: usize,
}

/// The agents whose hooks may open the sessions of an MCP server. Agents are named as in the client info of the
/// protocol.
pub trait Hosts: Debug + Send + Sync {
    /// Returns whether an agent of that name has hooks.
    fn has_hooks(&self, client: &str) -> bool;

    /// Returns whether the hooks of the agent ran recently, so that its model has the memory in its context.
    fn is_hooked(&self, client: &str) -> bool;

    /// Returns whether the hooks are installed, so that the first one runs soon.
    fn will_be_hooked(&self, client: &str) -> bool;

    /// Returns the daemon's id of the calling session: the session of the thread, else of the agent's process.
    fn session(&self, client: &str, thread: Option<&str>) -> Option<String>;

    /// Records the size of the server's instructions and tools, which the agent adds to its prompt.
    fn note_definitions(&self, client: &str, instructions: &str, tools: &[ToolSize]);
}
