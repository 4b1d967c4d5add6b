//! Patterns that are part of the source.
//!
//! The classes `\w` and `\d` of a whole Unicode table make automata of megabytes, which are built
//! before the first text is read and stay in memory. Patterns are given smaller ones in their place:
//! the blocks that letters stand in, and the digits 0 to 9.

use regex::Regex;

/// Letters, marks, digits and `_` as ranges of a class. A block of a script is taken whole; signs and
/// punctuation have blocks of their own, and stay outside.
const WORD: &str = r"0-9A-Za-z_\u{aa}\u{b5}\u{ba}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{1fff}\u{200c}\u{200d}\u{203f}\u{2040}\u{2054}\u{2c00}-\u{2dff}\u{2e2f}\u{3005}-\u{3007}\u{3021}-\u{302f}\u{3031}-\u{3035}\u{3038}-\u{303c}\u{3041}-\u{3096}\u{3099}\u{309a}\u{309d}-\u{309f}\u{30a1}-\u{30fa}\u{30fc}-\u{d7ff}\u{f900}-\u{fe0f}\u{fe20}-\u{fe2f}\u{fe70}-\u{fefe}\u{ff10}-\u{ff19}\u{ff21}-\u{ff3a}\u{ff3f}\u{ff41}-\u{ff5a}\u{ff66}-\u{ffdc}\u{10000}-\u{1efff}\u{20000}-\u{3ffff}";

/// The pattern of this source.
#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
pub(crate) fn pattern(source: &str) -> Regex {
    Regex::new(&with_small_classes(source)).expect("a valid pattern")
}

fn with_small_classes(source: &str) -> String {
    let mut made = String::with_capacity(source.len());
    let mut in_class = false;
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match (chars.next(), in_class) {
                (Some('w'), true) => made.push_str(WORD),
                (Some('w'), false) => made.extend(["[", WORD, "]"]),
                (Some('W'), false) => made.extend(["[^", WORD, "]"]),
                (Some('d'), true) => made.push_str("0-9"),
                (Some('d'), false) => made.push_str("[0-9]"),
                (Some(other), _) => made.extend(['\\', other]),
                (None, _) => made.push('\\'),
            },
            '[' | ']' => {
                in_class = char == '[';
                made.push(char);
            }
            other => made.push(other),
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_written_out_where_they_stand() {
        let word = |before: &str, after: &str| format!("{before}{WORD}{after}");
        for (source, expected) in [
            (r"a\d+\s\b", r"a[0-9]+\s\b".to_owned()),
            (r"[\d.]\\d\[\d", r"[0-9.]\\d\[[0-9]".to_owned()),
            (r"\w", word("[", "]")),
            (r"[\w./]", word("[", "./]")),
            (r"^\W*", word("^[^", "]*")),
        ] {
            assert_eq!(with_small_classes(source), expected, "{source}");
        }
    }

    #[test]
    fn a_word_is_what_it_is_in_unicode() {
        let (small, whole) = (pattern(r"^\w$"), Regex::new(r"^\w$").unwrap());
        let differs = |char: &char| {
            let text = char.to_string();
            small.is_match(&text) != whole.is_match(&text)
        };
        // Where people write: ASCII, Latin, punctuation, the signs of CJK, full width.
        for block in ['\0'..='\u{24f}', '\u{2000}'..='\u{206f}', '\u{3000}'..='\u{30ff}', '\u{ff00}'..='\u{ffbe}'] {
            let odd: Vec<char> = block.filter(differs).collect();
            assert_eq!(odd, [], "{odd:?}");
        }
        // No letter of a script is missing, only signs that are made of letters.
        let signs = ['\u{2070}'..='\u{24ff}', '\u{1f100}'..='\u{1f1ff}'];
        let is_sign = |char: char| signs.iter().any(|block| block.contains(&char));
        let missing = |char: &char| char.is_alphabetic() && !is_sign(*char) && !small.is_match(&char.to_string());
        let missing: Vec<char> = ('\0'..='\u{2ffff}').filter(missing).collect();
        assert_eq!(missing, [], "{missing:?}");
    }
}
