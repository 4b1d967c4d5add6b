//! Classes of chars that make small automata.
//!
//! The classes `\w` and `\d` of a whole Unicode table make automata of megabytes, which are built before the
//! first text is read and stay in memory. Patterns get smaller ones instead: ranges that contain letters, and
//! the digits 0 to 9.

/// Letters, marks, digits and `_` as ranges of a class. The ranges may include unassigned code points, and
/// signs of the same script. They never include punctuation, white space or invisible chars.
const WORD: &str = concat!(
    r"0-9A-Za-z_\u{aa}\u{b5}\u{ba}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{37d}\u{37f}-\u{386}\u{388}-\u{559}",
    r"\u{560}-\u{588}\u{591}-\u{5bd}\u{5bf}\u{5c1}-\u{5c2}\u{5c4}-\u{5c5}\u{5c7}-\u{5f2}\u{610}-\u{61a}",
    r"\u{620}-\u{669}\u{66e}-\u{6d3}\u{6d5}-\u{6dc}\u{6df}-\u{6ff}\u{710}-\u{7f5}\u{7fa}-\u{82d}",
    r"\u{840}-\u{85b}\u{860}-\u{88f}\u{897}-\u{8e1}\u{8e3}-\u{963}\u{966}-\u{96f}\u{971}-\u{9fc}",
    r"\u{9fe}-\u{a75}\u{a81}-\u{aef}\u{af9}-\u{c6f}\u{c80}-\u{c83}\u{c85}-\u{df3}\u{e01}-\u{e4e}",
    r"\u{e50}-\u{e59}\u{e81}-\u{f00}\u{f18}-\u{f39}\u{f3e}-\u{f84}\u{f86}-\u{fc6}\u{1000}-\u{1049}",
    r"\u{1050}-\u{10fa}\u{10fc}-\u{135f}\u{1380}-\u{13fd}\u{1401}-\u{166c}\u{166f}-\u{167f}\u{1681}-\u{169a}",
    r"\u{16a0}-\u{16ea}\u{16ee}-\u{1734}\u{1740}-\u{17d3}\u{17d7}\u{17dc}-\u{17e9}\u{180b}-\u{180d}",
    r"\u{180f}-\u{193b}\u{1946}-\u{1a1b}\u{1a20}-\u{1a99}\u{1aa7}\u{1ab0}-\u{1b4d}\u{1b50}-\u{1b59}\u{1b6b}-\u{1b73}",
    r"\u{1b80}-\u{1bf3}\u{1c00}-\u{1c37}\u{1c40}-\u{1c7d}\u{1c80}-\u{1cbf}\u{1cd0}-\u{1cd2}\u{1cd4}-\u{1ffc}",
    r"\u{200c}-\u{200d}\u{203f}-\u{2040}\u{2054}\u{2c00}-\u{2cf3}\u{2d00}-\u{2d6f}\u{2d7f}-\u{2dff}\u{2e2f}",
    r"\u{3005}-\u{3007}\u{3021}-\u{302f}\u{3031}-\u{3035}\u{3038}-\u{303c}\u{3041}-\u{309a}\u{309d}-\u{309f}",
    r"\u{30a1}-\u{30fa}\u{30fc}-\u{a4fd}\u{a500}-\u{a60c}\u{a610}-\u{a672}\u{a674}-\u{a67d}\u{a67f}-\u{a6f1}",
    r"\u{a717}-\u{a873}\u{a880}-\u{a8c5}\u{a8d0}-\u{a8f7}\u{a8fb}\u{a8fd}-\u{a92d}\u{a930}-\u{a953}",
    r"\u{a960}-\u{a9c0}\u{a9cf}-\u{a9d9}\u{a9e0}-\u{aa59}\u{aa60}-\u{aadd}\u{aae0}-\u{aaef}\u{aaf2}-\u{abea}",
    r"\u{abec}-\u{fd3d}\u{fd50}-\u{fe0f}\u{fe20}-\u{fe2f}\u{fe33}-\u{fe34}\u{fe4d}-\u{fe4f}\u{fe70}-\u{fefc}",
    r"\u{ff10}-\u{ff19}\u{ff21}-\u{ff3a}\u{ff3f}\u{ff41}-\u{ff5a}\u{ff66}-\u{ffdc}\u{10000}-\u{1efff}",
    r"\u{20000}-\u{3ffff}",
);

/// Returns the source with these classes in place of Unicode's.
///
/// Such a class has both cases of its letters. Computing the other cases of a pattern without case would take
/// a tenth of a second for all patterns. So the class turns that mode off.
pub(super) fn with_small_classes(source: &str) -> String {
    let mut made = String::with_capacity(source.len());
    let mut chars = source.chars();
    // The beginning of an unfinished class, and whether it contains the letters of all scripts.
    let mut class: Option<(usize, bool)> = None;
    while let Some(char) = chars.next() {
        match (char, &mut class) {
            ('\\', class) => match (chars.next(), class) {
                (Some('w'), Some((_, has_word))) => {
                    *has_word = true;
                    made.push_str(WORD);
                }
                (Some('w'), None) => made.extend(["(?-i:[", WORD, "])"]),
                (Some('W'), None) => made.extend(["(?-i:[^", WORD, "])"]),
                (Some('d'), Some(_)) => made.push_str("0-9"),
                (Some('d'), None) => made.push_str("[0-9]"),
                (Some(other), _) => made.extend(['\\', other]),
                (None, _) => made.push('\\'),
            },
            ('[', class @ None) => {
                *class = Some((made.len(), false));
                made.push('[');
            }
            (']', Some((begin, has_word))) => {
                made.push(']');
                if *has_word {
                    made.insert_str(*begin, "(?-i:");
                    made.push(')');
                }
                class = None;
            }
            (other, _) => made.push(other),
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn classes_are_written_out_where_they_stand() {
        let word = |before: &str, after: &str| format!("{before}{WORD}{after}");
        for (source, expected) in [
            (r"a\d+\s\b", r"a[0-9]+\s\b".to_owned()),
            (r"[\d.]\\d\[\d", r"[0-9.]\\d\[[0-9]".to_owned()),
            (r"\w", word("(?-i:[", "])")),
            (r"[a\w./]+", word("(?-i:[a", "./])+")),
            (r"^\W*", word("^(?-i:[^", "])*")),
        ] {
            assert_eq!(with_small_classes(source), expected, "{source}");
        }
    }

    #[test]
    fn a_word_is_what_it_is_in_unicode() {
        let whole = Regex::new(r"^\w$").unwrap();
        let small = Regex::new(&with_small_classes(r"^\w$")).unwrap();
        let nothing = Regex::new(r"^\p{Cn}$").unwrap();
        let differs = |char: &char| {
            let text = char.to_string();
            small.is_match(&text) != whole.is_match(&text) && !nothing.is_match(&text)
        };
        // Blocks in common use: ASCII, Latin, punctuation, CJK signs, full width.
        for block in ['\0'..='\u{24f}', '\u{2000}'..='\u{206f}', '\u{3000}'..='\u{30ff}', '\u{ff00}'..='\u{ffbe}'] {
            let odd: Vec<char> = block.filter(differs).collect();
            assert_eq!(odd, [], "{odd:?}");
        }
        // In all blocks no letter is missing, except signs made of letters, and no char that ends a word
        // counts as a letter.
        let signs = ['\u{2070}'..='\u{24ff}', '\u{1f100}'..='\u{1f1ff}'];
        let is_sign = |char: char| signs.iter().any(|block| block.contains(&char));
        let missing = |char: &char| char.is_alphabetic() && !is_sign(*char) && !small.is_match(&char.to_string());
        let missing: Vec<char> = ('\0'..='\u{2ffff}').filter(missing).collect();
        assert_eq!(missing, [], "{missing:?}");
        let between = Regex::new(r"^[\p{P}\p{Z}\p{Cc}\p{Cf}]$").unwrap();
        let is_odd = |char: &char| {
            let text = char.to_string();
            between.is_match(&text) && small.is_match(&text) && !whole.is_match(&text)
        };
        let odd: Vec<char> = ('\0'..='\u{ffff}').filter(is_odd).collect();
        assert_eq!(odd, [], "{odd:?}");
    }
}
