//! Previews of spilled outputs.

use std::borrow::Cow;

use crate::message::{Content, Message, Role};

/// The first line of a preview.
pub(crate) const OPENING_TAG: &str = "<persisted-output>";

/// The beginnings of the lines that herma adds to a preview. The line about reading the rest names tools of
/// the host, so it has two forms.
const FRAME: [&str; 7] = [
    OPENING_TAG,
    "</persisted-output>",
    "This tool result was too large (",
    "Use the read_file tool",
    "Read sections of it with",
    "Preview (first ",
    "Tail (last ",
];

/// Removes the lines that herma added to a preview. Otherwise the handoff would quote them as output of the tool.
pub(crate) fn without_frame(message: &Message) -> Cow<'_, Message> {
    let is_preview = message.is(Role::Tool) && matches!(message.content(), Content::Text(_));
    let text = if is_preview { message.text() } else { return Cow::Borrowed(message) };
    if !text.starts_with(OPENING_TAG) {
        return Cow::Borrowed(message);
    }
    let is_said = |line: &&str| *line != "..." && !FRAME.iter().any(|frame| line.starts_with(frame));
    let said: Vec<&str> = text.lines().filter(is_said).collect();
    Cow::Owned(message.with_text(said.join("\n").trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{result, say};

    #[test]
    fn what_the_tool_said_stays_and_where_the_rest_is() {
        let block = "<persisted-output>\nThis tool result was too large (90,011 characters, 87.9 KB).\nFull output saved to: /o/c1.txt\nUse the read_file tool with offset and limit to access specific sections of this output.\n\nPreview (first 9 chars):\nhost db-7\n\n...\nTail (last 4 chars, 9 lines in all):\nwell\n</persisted-output>";
        let message = result("c1", block);
        assert_eq!(without_frame(&message).text(), "Full output saved to: /o/c1.txt\n\nhost db-7\n\nwell");
        for other in [result("c1", "Preview (first 9 chars):\nx"), say("user", block)] {
            assert!(without_frame(&other).same(&other));
        }
    }
}
