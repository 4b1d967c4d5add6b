//! Any line that an MCP client may write.

/// Checks one input.
pub fn run(line: &[u8]) {
    herma_mcp::line_holds(line);
}
