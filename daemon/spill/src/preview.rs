//! The text that stays in the conversation for a result that was spilled, or that could not be saved.

use std::fmt::Display;

use crate::facts::{Facts, to_usize};
use crate::grapheme::{border_before, border_behind};

/// The beginning of a block. A result that contains it was spilled before.
pub const OPENING_TAG: &str = "<persisted-output>";

const CLOSING_TAG: &str = "</persisted-output>";

/// The beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview<'a> {
    /// The text, or its first lines.
    pub head: &'a str,
    /// Whether there is more text.
    pub has_more: bool,
}

/// Returns the first `max` chars of a text, cut after its last line end if that keeps more than half of them.
#[must_use]
pub fn preview(text: &str, max: usize) -> Preview<'_> {
    let Some((cut, _)) = text.char_indices().nth(max) else {
        return Preview { head: text, has_more: false };
    };
    let head = &text[..cut];
    let head = match head.rfind('\n') {
        Some(newline) if head[..newline].chars().count() > max / 2 => &head[..=newline],
        _ => head,
    };
    Preview { head, has_more: true }
}

/// Returns what [`preview`] does, but a head that would end within a grapheme cluster ends before it.
#[must_use]
pub fn preview_whole(text: &str, max: usize) -> Preview<'_> {
    let Preview { head, has_more } = preview(text, max);
    Preview { head: &text[..border_before(text, head.len())], has_more }
}

/// Returns the last `max` chars that a preview leaves out, or somewhat fewer if they would begin within a grapheme
/// cluster. Returns `None` if there are none.
#[must_use]
pub fn tail<'a>(text: &'a str, preview: &Preview<'_>, max: usize) -> Option<&'a str> {
    let rest = &text[preview.head.len()..];
    let from = rest.char_indices().rev().take(max).last().map_or(rest.len(), |(at, _)| at);
    let from = border_behind(text, preview.head.len() + from) - preview.head.len();
    Some(&rest[from..]).filter(|tail| !tail.is_empty())
}

/// Returns the lines of a text. A final newline starts no further one.
#[must_use]
pub fn lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the block that replaces a text that was spilled to `path` in the conversation.
#[must_use]
pub fn block(text: &str, facts: &Facts, path: &impl Display, size: usize, tail_size: usize) -> String {
    let chars = to_usize(facts.chars);
    let preview = if tail_size == 0 { preview(text, size) } else { preview_whole(text, size) };
    let mut block = format!(
        "{OPENING_TAG}\nThis tool result was too large ({} characters, {}).\nFull output saved to: {path}\nUse the read_file tool with offset and limit to access specific sections of this output.\n\nPreview (first {} chars):\n{}",
        thousands(chars),
        kilobytes(chars),
        preview.head.chars().count(),
        preview.head
    );
    if preview.has_more {
        block.push_str("\n...");
        if let Some(tail) = tail(text, &preview, tail_size) {
            let words = format!("\nTail (last {} chars, {} lines in all):\n", tail.chars().count(), facts.lines);
            block.push_str(&words);
            block.push_str(tail);
        }
    }
    block.push('\n');
    block.push_str(CLOSING_TAG);
    block
}

/// Returns the text that replaces a text that could not be saved in the conversation.
#[must_use]
pub fn truncation(text: &str, chars: usize, size: usize) -> String {
    format!(
        "{}\n\n[Truncated: tool response was {} chars. Full output could not be saved to sandbox.]",
        preview(text, size).head,
        thousands(chars)
    )
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats chars in units of 1,024, as the block's format requires: not bytes.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn kilobytes(chars: usize) -> String {
    let kilobytes = chars as f64 / 1024.0;
    if kilobytes >= 1024.0 { format!("{:.1} MB", kilobytes / 1024.0) } else { format!("{kilobytes:.1} KB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_prefer_to_end_with_a_line() {
        for (text, max, head, has_more) in [
            ("short", 10, "short", false),
            ("exactly10c", 10, "exactly10c", false),
            ("abcdefg\nhijk", 10, "abcdefg\n", true),
            ("abcd\nefghijk", 10, "abcd\nefghi", true),
            ("abcde\nfghijk", 10, "abcde\nfghi", true),
            ("abcdef\nghijk", 10, "abcdef\n", true),
            ("ééééééé", 3, "ééé", true),
            ("x", 0, "", true),
        ] {
            assert_eq!(preview(text, max), Preview { head, has_more }, "{text:?}");
        }
    }

    #[test]
    fn the_block_has_its_exact_form() {
        let text = format!("{}\n{}", "a".repeat(8), "b".repeat(2000));
        let block = block(&text, &Facts::of(&text), &"/o/x.txt", 10, 0);
        assert_eq!(
            block,
            "<persisted-output>\nThis tool result was too large (2,009 characters, 2.0 KB).\nFull output saved to: /o/x.txt\nUse the read_file tool with offset and limit to access specific sections of this output.\n\nPreview (first 9 chars):\naaaaaaaa\n\n...\n</persisted-output>"
        );
        assert_eq!(kilobytes(3 << 20), "3.0 MB");
    }

    #[test]
    fn the_tail_follows_the_dots_and_never_repeats_the_head() {
        let full = block("0123456789abcdef\nlast", &Facts::of("0123456789abcdef\nlast"), &"/p", 10, 500);
        assert!(
            full.ends_with("0123456789\n...\nTail (last 11 chars, 2 lines in all):\nabcdef\nlast\n</persisted-output>"),
            "{full}"
        );
        let short = block("tiny", &Facts::of("tiny"), &"/p", 10, 500);
        assert!(short.ends_with("Preview (first 4 chars):\ntiny\n</persisted-output>"));
    }

    #[test]
    fn head_and_tail_do_not_split_what_is_seen_as_one() {
        let text = format!("ab👨\u{200d}👩{}e\u{301}xy", "-".repeat(20));
        let full = block(&text, &Facts::of(&text), &"/p", 3, 3);
        assert!(
            full.contains("Preview (first 2 chars):\nab\n...\nTail (last 2 chars, 1 lines in all):\nxy\n"),
            "{full}"
        );
        let exact = block(&text, &Facts::of(&text), &"/p", 3, 0);
        assert!(exact.contains("Preview (first 3 chars):\nab👨\n...\n</persisted-output>"), "{exact}");
        assert!(truncation(&text, 29, 3).starts_with("ab👨\n\n[Truncated: "));
    }

    #[test]
    fn a_truncation_has_its_exact_form() {
        let words = truncation(&"x".repeat(2000), 2000, 3);
        assert_eq!(
            words,
            "xxx\n\n[Truncated: tool response was 2,000 chars. Full output could not be saved to sandbox.]"
        );
    }
}
