//! Input: any line from an MCP client.

/// Checks one input.
pub fn run(line: &[u8]) {
    herma_mcp::line_holds(line);
}
