//! Terminal escape sequences (ECMA-48): colours, titles, cursor movements. They are never shown,
//! and their letters are not part of a word.

use std::borrow::Cow;
use std::ops::Range;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The JSON spelling of the byte that begins a sequence, without its last digit, `b` or `B`.
const SPELLING: &[u8] = b"\\u001";

/// Replaces each byte of an escape sequence with a space, so that every other byte keeps its position. The escape byte
/// may also be written `\u001b`, as in the JSON that tools print.
pub fn blanked(text: &str) -> Cow<'_, str> {
    let mut spelled = spelled(text).peekable();
    if memchr::memchr(ESCAPE, text.as_bytes()).is_none() && spelled.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    spelled.for_each(|Spelled { range, .. }| bytes[range].fill(b' '));
    let mut at = 0;
    while let Some(found) = memchr::memchr(ESCAPE, &bytes[at..]) {
        let start = at + found;
        at = end(&bytes, start);
        bytes[start..at].fill(b' ');
    }
    // Sequences end before any byte that is not ASCII.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the text without escape sequences. Colours and titles leave nothing, because they also occur within words;
/// cursor movements leave a space.
pub fn stripped(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut shown = String::new();
    while let Some(start) = memchr::memchr(ESCAPE, rest.as_bytes()) {
        let (before, sequence) = rest.split_at(start);
        let (sequence, behind) = sequence.split_at(end(sequence.as_bytes(), 0));
        shown.push_str(before);
        if sequence.as_bytes().get(1) == Some(&b'[') && !sequence.ends_with('m') {
            shown.push(' ');
        }
        rest = behind;
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Strips escape sequences from a text that may be JSON, where the escape byte is written `\u001b`.
/// Valid JSON stays valid: only complete control sequences are removed, and of other sequences the
/// `\u001b` alone.
pub fn stripped_json(json: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut kept = 0;
    for Spelled { range, is_colour } in spelled(json) {
        shown.push_str(json.get(kept..range.start).unwrap_or_default());
        if !is_colour {
            shown.push(' ');
        }
        kept = range.end;
    }
    if kept == 0 {
        return stripped(json);
    }
    shown.push_str(json.get(kept..).unwrap_or_default());
    Cow::Owned(stripped(&shown).into_owned())
}

/// A sequence whose escape byte is written as in JSON.
struct Spelled {
    range: Range<usize>,
    is_colour: bool,
}

/// Returns the spelled sequences of a text, in order.
fn spelled(text: &str) -> impl Iterator<Item = Spelled> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + memchr::memmem::find(bytes.get(from..)?, SPELLING)?;
            let digit = start + SPELLING.len();
            from = digit;
            let before = bytes.iter().take(start).rev().take_while(|byte| **byte == b'\\').count();
            // A backslash that is itself escaped begins no escape.
            if before % 2 == 0 && matches!(bytes.get(digit), Some(b'b' | b'B')) {
                let (end, is_colour) = end_of_spelled(bytes, digit + 1);
                from = end;
                return Some(Spelled { range: start..end, is_colour });
            }
        }
    })
}

/// Returns the end of the sequence after a spelled escape byte, and whether it is a colour.
fn end_of_spelled(bytes: &[u8], behind: usize) -> (usize, bool) {
    let is_control = bytes.get(behind) == Some(&b'[');
    let given = bytes.get(behind + 1..).unwrap_or_default();
    let parameters = given.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?')).count();
    match given.get(parameters) {
        Some(last) if is_control && last.is_ascii_alphabetic() => (behind + 1 + parameters + 1, *last == b'm'),
        _ => (behind, false),
    }
}

/// Returns the offset after the sequence that begins at `start`.
fn end(bytes: &[u8], start: usize) -> usize {
    let run = |from: usize, is_in: fn(u8) -> bool| {
        bytes.get(from..).map_or(bytes.len(), |rest| from + rest.iter().take_while(|byte| is_in(**byte)).count())
    };
    let is_ascii_text = |byte: u8| byte.is_ascii() && byte != ESCAPE && byte != BELL && byte != b'\n';
    match bytes.get(start + 1) {
        // A control sequence: parameters, intermediates, and a final byte.
        Some(b'[') => {
            let behind = run(run(start + 2, |byte| (0x30..0x40).contains(&byte)), |byte| (0x20..0x30).contains(&byte));
            behind + usize::from(bytes.get(behind).is_some_and(|byte| (0x40..0x7f).contains(byte)))
        }
        // A string, such as a title or a link, up to a bell or an escape with a backslash.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let behind = run(start + 2, is_ascii_text);
            match (bytes.get(behind), bytes.get(behind + 1)) {
                (Some(&BELL), _) => behind + 1,
                (Some(&ESCAPE), Some(b'\\')) => behind + 2,
                // The string has no end: a terminal would wait for it, so only the two introducing bytes are removed.
                _ => start + 2,
            }
        }
        // A charset selection, or a single function.
        Some(byte) if byte.is_ascii() && *byte >= 0x20 => {
            let behind = run(start + 1, |byte| (0x20..0x30).contains(&byte));
            behind + usize::from(bytes.get(behind).is_some_and(|byte| (0x30..0x7f).contains(byte)))
        }
        _ => start + 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_words_of_a_coloured_text_are_left() {
        for (text, expected) in [
            ("plain [31m text", "plain [31m text"),
            ("a \u{1b}[31mplatypus\u{1b}[0m b", "a platypus b"),
            ("\u{1b}[1;38;5;208mport 8443\u{1b}[m", "port 8443"),
            ("\u{1b}[?25l\u{1b}[2K\rdone", "done"),
            ("\u{1b}]0;title\u{7}shell", "shell"),
            ("\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\ é", "link é"),
            ("\u{1b}(Bascii \u{1b}=on", "ascii on"),
            ("\u{1b}]0;no end é", "0;no end é"),
            ("cut \u{1b}[31", "cut"),
            ("cut \u{1b}", "cut"),
            ("\u{1b}é", "é"),
            (r#"{"a":"\u001b[31mplatypus\u001B[0m"}"#, r#"{"a":" platypus "}"#),
            (r#"x = \\u001b[31mred"#, r#"x = \\u001b[31mred"#),
        ] {
            let blanked = blanked(text);
            assert_eq!(blanked.len(), text.len(), "{text:?}");
            assert_eq!(blanked.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_stripped_joins_words_only_where_a_reader_sees_one() {
        for (text, expected) in [
            ("plain [31m text é", "plain [31m text é"),
            ("src/\u{1b}[1;31mpart\u{1b}[0m.rs:4", "src/part.rs:4"),
            ("\u{1b}]0;title\u{7}shell", "shell"),
            ("one\u{1b}[2Ctwo\u{1b}[K", "one two "),
            ("é\u{1b}", "é"),
            ("\u{1b}[31", " "),
        ] {
            assert_eq!(stripped(text), expected, "{text:?}");
        }
    }

    #[test]
    fn json_stays_json() {
        for (json, expected) in [
            (r#"{"a":"\u001b[1;31mplatypus\u001B[0m"}"#, r#"{"a":"platypus"}"#),
            (r#"["\u001b","\u001b]0;t\u0007x","\u001b[2K"]"#, r#"[" "," ]0;t\u0007x"," "]"#),
            (r#"{"code":"x = \\u001b[0m","order_id":"A-1"}"#, r#"{"code":"x = \\u001b[0m","order_id":"A-1"}"#),
            (r#"{"out":"a\u001b[3","status":"paid"}"#, r#"{"out":"a [3","status":"paid"}"#),
            (r#"{"out":"a\u001b[","b":"\u001b[1;3"}"#, r#"{"out":"a [","b":" [1;3"}"#),
            (r#"["\u001b\u001b[1mx\u001a"]"#, r#"[" x\u001a"]"#),
            (r#"["plain"]"#, r#"["plain"]"#),
            ("[\"\u{1b}[31mx\"]", "[\"x\"]"),
        ] {
            let stripped = stripped_json(json);
            assert_eq!(stripped, expected);
            assert!(serde_json::from_str::<serde_json::Value>(&stripped).is_ok());
        }
    }

    proptest! {
        #[test]
        fn any_json_stays_json(text in "[\u{1b}\u{7}a\\[\\]0-9;mKé\"\\\\\n]{0,40}", more in any::<String>()) {
            for value in [serde_json::json!([text, more]), serde_json::json!({ "a": format!("{text}\u{1b}[3"), "b": more })] {
                let json = value.to_string();
                let stripped = stripped_json(&json);
                prop_assert!(serde_json::from_str::<serde_json::Value>(&stripped).is_ok(), "{}", stripped);
                let has_escape = stripped.contains('\u{1b}');
                prop_assert!(!has_escape);
            }
        }

        #[test]
        fn a_stripped_text_has_what_a_blanked_one_shows(text in "[\u{1b}\u{7}a\\[\\]0-9;mé \\\\\n]{0,40}") {
            let without_space = |text: &str| text.split(' ').collect::<String>();
            prop_assert_eq!(without_space(&stripped(&text)), without_space(&blanked(&text)));
        }

        #[test]
        fn every_other_byte_stays_where_it_is(text in "[\u{1b}\u{7}a\\[\\]0-9;mé \\\\\n]{0,40}") {
            let blanked = blanked(&text);
            prop_assert_eq!(blanked.len(), text.len());
            let has_escape = blanked.contains('\u{1b}');
            prop_assert!(!has_escape);
            for ((at, char), (also, other)) in blanked.char_indices().zip(text.char_indices()) {
                prop_assert_eq!(at, also);
                let is_kept = char == other || char == ' ';
                prop_assert!(is_kept);
            }
        }
    }
}
