//! Escape sequences of terminals (ECMA-48): colours, titles, moves of the cursor. Nobody reads them, and their letters are
//! no part of a word.

use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The text with a space for each byte of an escape sequence, so that every other byte stays where it is.
pub(crate) fn blanked(text: &str) -> Cow<'_, str> {
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

    proptest! {
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
