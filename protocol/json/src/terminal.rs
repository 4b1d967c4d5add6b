//! Escape sequences of terminals (ECMA-48): colours, titles, moves of the cursor. Nobody reads them, and their letters are
//! no part of a word.

use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// How JSON has the byte that begins a sequence.
const SPELLINGS: [&str; 2] = ["\\u001b", "\\u001B"];

/// The text with a space for each byte of an escape sequence, so that every other byte stays where it is.
pub fn blanked(text: &str) -> Cow<'_, str> {
    if memchr::memchr(ESCAPE, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = memchr::memchr(ESCAPE, &bytes[at..]) {
        let start = at + found;
        at = end(&bytes, start);
        bytes[start..at].fill(b' ');
    }
    // Sequences end before any byte that is not ASCII.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The text without escape sequences. Colours and titles leave nothing, for they stand within words too; what moves the
/// cursor leaves a space.
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

/// The same of a text that may be JSON, whose strings have the byte that begins a sequence as an escape.
pub fn stripped_json(json: &str) -> Cow<'_, str> {
    if !SPELLINGS.iter().any(|spelling| json.contains(spelling)) {
        return stripped(json);
    }
    // Of other sequences the end can't be told from the string's.
    let mut text = json.to_owned();
    for spelling in SPELLINGS {
        text = text.replace(&format!("{spelling}["), "\u{1b}[").replace(spelling, " ");
    }
    Cow::Owned(stripped(&text).into_owned())
}

/// One past the sequence that begins there.
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
                // It is none: a terminal would wait for its end.
                _ => start + 2,
            }
        }
        // A set of chars, or a single function.
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
