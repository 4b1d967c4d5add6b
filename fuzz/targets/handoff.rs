//! Any text as a handoff: the frame goes round it once, however often it is put there, and comes off.

#![no_main]

use herma_context::Message;
use herma_context::handoff::{own_sections, sections, split, strip, with_frame, with_prefix};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
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
});
