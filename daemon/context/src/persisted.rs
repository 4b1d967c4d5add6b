//! Previews of outputs that are kept elsewhere: what of them the tool said.

use std::borrow::Cow;

use crate::message::{Content, Message, Role};

/// How the text of a preview begins.
pub(crate) const OPENING_TAG: &str = "<persisted-output>";

/// How lines begin that say how the preview was made. Each host names tools of its own in the one that says how to read
/// on.
const FRAME: [&str; 7] = [
    OPENING_TAG,
    "</persisted-output>",
    "This tool result was too large (",
    "Use the read_file tool",
    "Read sections of it with",
    "Preview (first ",
    "Tail (last ",
];

/// A message without the words around a preview, so that none of them is taken for what a tool said.
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
