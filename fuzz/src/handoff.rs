//! Input: any text as a handoff. The frame is added once, even if added repeatedly, and can be removed.

use herma_context::Message;
use herma_context::handoff::{own_sections, sections, split, strip, with_frame, with_prefix};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let body = strip(text);
    if strip(body) == body {
        assert_eq!(with_prefix(&with_prefix(text)), with_prefix(text));
    }
    if let Some(parts) = split(&with_frame(body)) {
        drop(parts);
    } else {
        panic!("a framed text is a handoff");
    }
    drop((sections(text), own_sections(text)));
    let message = serde_json::json!({ "role": "user", "content": with_frame(body) }).to_string();
    let message = Message::parse(message).unwrap_or_else(|error| panic!("{error}"));
    assert!(herma_context::handoff::is_handoff(&message));
}
