//! Makes foreign text safe for a terminal or log: characters that move the cursor, change colours
//! or reverse the direction of a line are shown instead of interpreted.

use std::borrow::Cow;

/// Start of the Unicode block with pictures of the first 32 control characters.
const PICTURES: u32 = 0x2400;

/// Returns the text with visible control characters and direction marks; newlines and tabs stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    made(text, |char, next| match char {
        '\n' | '\t' => true,
        '\r' => next == Some('\n'),
        other => is_harmless(other),
    })
}

/// Does the same for text on one line, where newlines and tabs are made visible too.
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    made(text, |char, _| is_harmless(char))
}

fn made(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    let mut chars = text.chars().peekable();
    let mut made = String::new();
    let mut is_changed = false;
    while let Some(char) = chars.next() {
        if stays(char, chars.peek().copied()) {
            made.push(char);
        } else {
            is_changed = true;
            made.push_str(&picture(char));
        }
    }
    if is_changed { Cow::Owned(made) } else { Cow::Borrowed(text) }
}

/// Returns false for control characters, and for those that reverse or hide the text around them:
/// Unicode's bidirectional marks, line and paragraph separators, and tags.
fn is_harmless(char: char) -> bool {
    let turns = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(char, '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}');
    !char.is_control() && !turns && !hides
}

fn picture(char: char) -> String {
    let code = u32::from(char);
    match code {
        0..0x20 => char::from_u32(PICTURES + code).map(String::from).unwrap_or_default(),
        0x7f => '\u{2421}'.to_string(),
        _ => format!("<U+{code:04X}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_do_is_shown() {
        for (text, expected, line) in [
            ("plain é 日本 🎉\ttab\nline\r\n", "plain é 日本 🎉\ttab\nline\r\n", "plain é 日本 🎉␉tab␊line␍␊"),
            ("\u{1b}]0;title\u{7}", "␛]0;title␇", "␛]0;title␇"),
            ("\u{1b}[2J\r", "␛[2J␍", "␛[2J␍"),
            ("\u{9b}31m\u{7f}\0", "<U+009B>31m␡␀", "<U+009B>31m␡␀"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a<U+202E>b<U+2066>c<U+200F>", "a<U+202E>b<U+2066>c<U+200F>"),
            ("x\u{2028}y\u{e0041}", "x<U+2028>y<U+E0041>", "x<U+2028>y<U+E0041>"),
        ] {
            assert_eq!((&*visible(text), &*visible_line(text)), (expected, line), "{text:?}");
        }
        assert!(matches!(visible("as it is\n"), Cow::Borrowed(_)));
    }
}
