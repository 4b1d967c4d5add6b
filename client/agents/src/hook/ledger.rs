//! herma's changes to an agent's window, in the form of the daemon's ledger. No I/O.

use herma_client::protocol::ledger::{Change, ChangeKind};
use serde_json::Value;

use super::outputs;

/// The chars of a token, the same estimate as in the daemon.
const CHARS_PER_TOKEN: usize = 4;

/// The assumed tokens of the summary that an agent's own compaction leaves. Real ones have 1,000 to 4,000.
const ASSUMED_SUMMARY_TOKENS: usize = 2_000;

/// The tokens around that summary in Claude Code (seen in 2.1.332).
const SUMMARY_FRAME_TOKENS: usize = 230;

/// The changes of an event.
#[derive(Debug, Default)]
pub(super) struct Changes(Vec<Change>);

impl Changes {
    /// Takes the changes of the event, to send them to the daemon.
    pub(super) fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.0)
    }

    /// Records that the agent added a text of herma to the window.
    pub(super) fn context(&mut self, time: f64, text: &str) {
        self.add(time, ChangeKind::Context, tokens(text.chars().count()), 0);
    }

    /// Records that the window contains instructions and tool names of herma's server.
    pub(super) fn definitions(&mut self, time: f64, tokens: u64) {
        self.add(time, ChangeKind::Definitions, tokens, 0);
    }

    /// Records a tool call of the model, if the tool is one of herma's.
    pub(super) fn tool(&mut self, time: f64, event: &Value) {
        if outputs::is_of_herma(event.get("tool_name").and_then(Value::as_str).unwrap_or_default()) {
            let chars = |name: &str| event.get(name).map_or(0, |value| value.to_string().chars().count());
            self.add(time, ChangeKind::Tool, tokens(chars("tool_input") + chars("tool_response")), 0);
        }
    }

    /// Records that the window contains a preview instead of the text that the agent itself would show.
    pub(super) fn output(&mut self, time: f64, preview: &str, shown: usize) {
        self.add(time, ChangeKind::Output, tokens(preview.chars().count()), tokens(shown));
    }

    /// Records that rows of herma replaced Claude Code's own summary and its newest rows.
    pub(super) fn rows(&mut self, time: f64, chars: usize, newest: usize) {
        let without = ASSUMED_SUMMARY_TOKENS + SUMMARY_FRAME_TOKENS + newest.div_ceil(CHARS_PER_TOKEN);
        self.add(time, ChangeKind::Compaction, tokens(chars), u64::try_from(without).unwrap_or(u64::MAX));
    }

    /// Records that a text of herma replaced the agent's own summary.
    pub(super) fn handover(&mut self, time: f64, tokens: u64) {
        self.0.push(handover(time, tokens));
    }

    /// Records that the agent compacted by itself, with herma's instructions for the summary.
    pub(super) fn summary(&mut self, time: f64, tokens: u64) {
        self.add(time, ChangeKind::Summary, tokens, 0);
    }

    fn add(&mut self, time: f64, kind: ChangeKind, added: u64, removed: u64) {
        self.0.push(Change { time, kind, added, removed });
    }
}

fn handover(time: f64, added: u64) -> Change {
    let removed = u64::try_from(ASSUMED_SUMMARY_TOKENS).unwrap_or(u64::MAX);
    Change { time, kind: ChangeKind::Handover, added, removed }
}

/// Returns the change when a text replaces the agent's own summary.
pub(crate) fn handover_change(time: f64, text: &str) -> Change {
    handover(time, tokens(text.chars().count()))
}

/// Returns an estimate of the tokens of a text with so many chars.
pub(super) fn tokens(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_change_says_what_is_there_and_what_would_be() {
        let mut changes = Changes::default();
        changes.definitions(1.0, 7);
        changes.context(2.0, "äöüß5");
        changes.tool(3.0, &json!({ "tool_name": "Bash", "tool_input": "1234", "tool_response": "1234" }));
        changes.tool(4.0, &json!({ "tool_name": "mcp__herma__memory", "tool_input": "12", "tool_response": "12" }));
        changes.output(5.0, "12345678", 2_000);
        changes.rows(6.0, 8_000, 400);
        changes.handover(7.0, 900);
        changes.summary(8.0, 30);
        let found: Vec<_> =
            changes.take().into_iter().map(|one| (one.time, one.kind, one.added, one.removed)).collect();
        assert_eq!(
            found,
            [
                (1.0, ChangeKind::Definitions, 7, 0),
                (2.0, ChangeKind::Context, 2, 0),
                (4.0, ChangeKind::Tool, 2, 0),
                (5.0, ChangeKind::Output, 2, 500),
                (6.0, ChangeKind::Compaction, 2_000, 2_330),
                (7.0, ChangeKind::Handover, 900, 2_000),
                (8.0, ChangeKind::Summary, 30, 0),
            ]
        );
        assert_eq!(changes.take(), []);
    }
}
