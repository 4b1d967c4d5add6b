//! Input: any text as an output. Its joined pages equal the text, and a preview is a prefix of it.

use herma_spill::facts::Facts;
use herma_spill::handle::{Handle, split_line};
use herma_spill::page::{Next, Part, page};
use herma_spill::{json, name, preview};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let size = text.len() % 17 + 1;
    let mut whole = String::new();
    let mut part = Part::Chars { offset: 0, limit: size };
    loop {
        let page = page(text, part);
        whole.push_str(&page.text);
        match page.next {
            Some(Next::Offset(offset)) => part = Part::Chars { offset, limit: size },
            Some(Next::Line(_)) => panic!("a page of chars is followed by one of lines"),
            None => break,
        }
    }
    assert_eq!(whole, text);
    let head = preview::preview(text, size);
    assert!(text.starts_with(head.head) && (head.has_more || head.head == text));
    let whole = preview::preview_whole(text, size);
    assert!(head.head.starts_with(whole.head));
    if let Some(tail) = preview::tail(text, &whole, size) {
        assert!(text.ends_with(tail) && tail.chars().count() <= size);
    }
    drop(preview::block(text, &Facts::of(text), &"file", size, size));
    let _ = page(text, Part::Tail(size));
    let _ = page(text, Part::Lines { line: size, lines: size });
    let safe = name::safe(text);
    assert!(!safe.is_empty() && !safe.contains('/') && safe != "." && safe != ".." && safe.len() <= 255);
    assert_eq!(Handle::parse(&Handle::of(text).to_string()), Some(Handle::of(text)));
    let _ = Handle::parse(split_line(text).0);
    if let Ok(pretty) = json::pretty(text) {
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(same(&pretty), same(text));
    }
}
