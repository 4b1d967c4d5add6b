//! Chooses the messages of one answer, and cuts one that is too long for it. Pure.

use std::ops::Range;

use herma_context::tokens::{chars_to_tokens, estimate_text, tokens_to_chars};

use crate::data::numbers::{to_u64, to_usize};

/// The largest size of messages in one answer, in bytes. The first message is always included.
const BYTES: usize = 2 << 20;

/// A part of a message may end this share of its length earlier, at the end of a line or word.
const EARLIER: usize = 4;

/// The size of one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageSize {
    /// The largest number of messages after the first one.
    pub after: u64,
    /// The largest number of tokens. At least one, so that every page goes on.
    pub tokens: u64,
    /// Whether a message of more tokens comes in parts, and not whole.
    pub has_parts: bool,
    /// Whether the answer contains the messages as JSON, and not only their texts.
    pub is_whole: bool,
}

/// A message that may be in the answer.
pub(super) struct Candidate<'a> {
    /// The whole message, as JSON text.
    pub body: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The content of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// The messages, by their index.
    pub messages: Range<usize>,
    /// If only a part of the named message is in the answer: that part, in chars.
    pub part: Option<Range<u64>>,
    /// Whether the named message goes on after its part.
    pub goes_on: bool,
}

/// Chooses the named message from its char `from` on, then the nearest ones on both sides, as long as they fit.
///
/// If the named message itself is too long, only a part of it is chosen.
pub(super) fn choose(all: &[Candidate<'_>], named: usize, from: u64, size: PageSize) -> Content {
    let Some(message) = all.get(named) else { return Content { messages: 0..0, part: None, goes_on: false } };
    let part = rest(message, from, size);
    if part.as_ref().is_some_and(|part| part.end < chars(message.text)) {
        return Content { messages: named..named + 1, part, goes_on: true };
    }
    let of_part = part.as_ref().map(|part| chars_to_tokens(to_usize(part.end - part.start)));
    let mut left = Room { tokens: size.tokens, bytes: BYTES };
    left.take(of_part.unwrap_or_else(|| cost(message, size)), message.body.len());
    let (mut start, mut end) = (named, named + 1);
    let (mut is_open_before, mut is_open_after) = (from == 0, true);
    while is_open_before || is_open_after {
        is_open_after = is_open_after && to_u64(end - named) <= size.after && left.takes(all.get(end), size);
        end += usize::from(is_open_after);
        is_open_before = is_open_before && left.takes(start.checked_sub(1).and_then(|at| all.get(at)), size);
        start -= usize::from(is_open_before);
    }
    Content { messages: start..end, part, goes_on: false }
}

/// Returns where a page should begin that shows the char `at` of a text: at the start of a line a little before it.
pub(super) fn start_for(text: &str, at: u64, tokens: u64) -> u64 {
    let whole = estimate_text(text) <= tokens;
    let wanted = at.saturating_sub(to_u64(budget(tokens) / EARLIER));
    if whole || wanted == 0 {
        return 0;
    }
    let between = text.chars().skip(to_usize(wanted)).take(to_usize(at - wanted));
    let line = between.take_while(|char| *char != '\n').count();
    let is_found = to_u64(line) < at - wanted;
    if is_found { wanted + to_u64(line) + 1 } else { wanted }
}

/// The tokens and bytes that are left.
struct Room {
    tokens: u64,
    bytes: usize,
}

impl Room {
    /// Takes the room of a message, if there is one and it fits.
    fn takes(&mut self, message: Option<&Candidate<'_>>, size: PageSize) -> bool {
        let Some(message) = message else { return false };
        let cost = cost(message, size);
        let fits = cost <= self.tokens && message.body.len() <= self.bytes;
        if fits {
            self.take(cost, message.body.len());
        }
        fits
    }

    fn take(&mut self, tokens: u64, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(tokens);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// Returns the part of a message that the answer contains; `None` for all of it.
fn rest(message: &Candidate<'_>, from: u64, size: PageSize) -> Option<Range<u64>> {
    if from == 0 && (!size.has_parts || cost(message, size) <= size.tokens) {
        return None;
    }
    let all = chars(message.text);
    let from = from.min(all);
    if !size.has_parts {
        return Some(from..all);
    }
    let room = budget(size.tokens);
    if all - from <= to_u64(room) {
        // A message whose text fits and whose JSON does not comes as text.
        return Some(from..all);
    }
    let part: Vec<char> = message.text.chars().skip(to_usize(from)).take(room).collect();
    let earliest = room - room / EARLIER;
    let late = part.get(earliest..).unwrap_or_default();
    let end = late.iter().rposition(|char| *char == '\n').or_else(|| late.iter().rposition(|char| *char == ' '));
    let length = end.map_or(part.len(), |at| earliest + at + 1);
    Some(from..from + to_u64(length))
}

fn cost(message: &Candidate<'_>, size: PageSize) -> u64 {
    estimate_text(if size.is_whole { message.body } else { message.text })
}

fn chars(text: &str) -> u64 {
    to_u64(text.chars().count())
}

/// Returns the number of chars of one answer; at least those of one token.
fn budget(tokens: u64) -> usize {
    tokens_to_chars(tokens.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: PageSize = PageSize { after: 50, tokens: 10, has_parts: true, is_whole: false };

    fn chosen(texts: &[&str], named: usize, from: u64, size: PageSize) -> (Range<usize>, Option<Range<u64>>) {
        let all: Vec<Candidate<'_>> = texts.iter().map(|text| Candidate { body: text, text }).collect();
        let Content { messages, part, .. } = choose(&all, named, from, size);
        (messages, part)
    }

    #[test]
    fn the_nearest_messages_come_with_the_named_one() {
        let twelve = "123456789012";
        let texts = [twelve; 6];
        // Three tokens each: the named one, the next and the one before.
        assert_eq!(chosen(&texts, 3, 0, SIZE), (2..5, None));
        assert_eq!(chosen(&texts, 0, 0, SIZE), (0..3, None));
        assert_eq!(chosen(&texts, 5, 0, SIZE), (3..6, None));
        assert_eq!(chosen(&texts, 3, 0, PageSize { tokens: 1_000, ..SIZE }), (0..6, None));
        assert_eq!(chosen(&texts, 1, 0, PageSize { tokens: 1_000, after: 1, ..SIZE }), (0..3, None));
        assert_eq!(chosen(&[], 0, 0, SIZE), (0..0, None));
        // A long neighbour closes its side only.
        let long = "x".repeat(100);
        assert_eq!(chosen(&[twelve, twelve, &long], 1, 0, SIZE), (0..2, None));
    }

    #[test]
    fn a_long_message_comes_in_parts_that_give_the_whole_text() {
        for text in ["x".repeat(333), "ab cd ef ".repeat(40), "a line\n".repeat(50), "汉字 é🙂".repeat(60)] {
            let (mut from, mut got) = (0, String::new());
            loop {
                let (messages, part) = chosen(&[&text, "next"], 0, from, SIZE);
                let part = part.unwrap();
                assert!(part.start == from && part.end > from && part.end - part.start <= 40, "{part:?}");
                got.extend(text.chars().skip(to_usize(from)).take(to_usize(part.end - from)));
                from = part.end;
                if from == chars(&text) {
                    break;
                }
                assert_eq!(messages, 0..1);
            }
            assert_eq!(got, text);
        }
    }

    #[test]
    fn a_part_ends_with_a_line_or_word() {
        let text = format!("{}\n{}", "a".repeat(35), "b".repeat(40));
        assert_eq!(chosen(&[&text], 0, 0, SIZE), (0..1, Some(0..36)));
        let text = format!("{} {}", "a".repeat(35), "b".repeat(40));
        assert_eq!(chosen(&[&text], 0, 0, SIZE), (0..1, Some(0..36)));
        let text = format!("{} {}", "a".repeat(20), "b".repeat(60));
        assert_eq!(chosen(&[&text], 0, 0, SIZE), (0..1, Some(0..40)));
    }

    #[test]
    fn the_last_part_leaves_room_for_the_next_messages() {
        let text = "x".repeat(50);
        assert_eq!(chosen(&[&text, "short", &text], 0, 40, SIZE), (0..2, Some(40..50)));
        assert_eq!(chosen(&["before", &text, "short"], 1, 40, SIZE), (1..3, Some(40..50)));
        assert_eq!(chosen(&[&text], 0, 400, SIZE), (0..1, Some(50..50)));
    }

    #[test]
    fn json_that_does_not_fit_comes_as_text() {
        let body = "x".repeat(100);
        let all = [Candidate { body: &body, text: "short" }];
        let whole = PageSize { is_whole: true, ..SIZE };
        assert_eq!(choose(&all, 0, 0, whole), Content { messages: 0..1, part: Some(0..5), goes_on: false });
        assert_eq!(choose(&all, 0, 0, SIZE), Content { messages: 0..1, part: None, goes_on: false });
    }

    #[test]
    fn without_parts_a_long_message_comes_alone_and_whole() {
        let long = "x".repeat(100);
        let whole = PageSize { has_parts: false, ..SIZE };
        assert_eq!(chosen(&["short", &long, "short"], 1, 0, whole), (1..2, None));
        // A page that goes on within a message has the rest of it.
        assert_eq!(chosen(&[&long, "short"], 0, 30, whole), (0..1, Some(30..100)));
        assert_eq!(chosen(&[&long, "short"], 0, 90, whole), (0..2, Some(90..100)));
    }

    #[test]
    fn a_page_about_something_begins_a_little_before_it() {
        let text = "0123456789\n".repeat(100);
        assert_eq!(start_for(&text, 500, 10), 495);
        assert_eq!(start_for(&text, 5, 10), 0);
        assert_eq!(start_for(&text, 500, 1_000), 0);
        assert_eq!(start_for(&"x".repeat(1_000), 500, 10), 490);
    }
}
