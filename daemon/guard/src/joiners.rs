//! Where a zero-width joiner or non-joiner is part of the spelling.

use std::sync::LazyLock;

use regex::Regex;

use crate::patterns::compile;

/// ZERO WIDTH NON-JOINER.
pub(crate) const ZWNJ: char = '\u{200C}';

/// ZERO WIDTH JOINER.
pub(crate) const ZWJ: char = '\u{200D}';

/// VARIATION SELECTOR-16: asks for the emoji form of the character before it.
const VS16: char = '\u{FE0F}';

/// Letters and signs of the scripts whose letters join or stack, so that their spelling needs
/// joiners. U+0640 is the Arabic tatweel, which Unicode counts to no single script.
static JOINING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"[\p{L}\p{M}&&[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}\p{Mandaic}\p{Manichaean}
        \p{Adlam}\p{Hanifi_Rohingya}\p{Phags_Pa}\p{Sogdian}\p{Psalter_Pahlavi}
        \p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}
        \p{Malayalam}\p{Sinhala}\p{Tibetan}\p{Myanmar}\p{Khmer}\p{Balinese}\p{Javanese}
        \p{Sundanese}\p{Tai_Tham}\p{Meetei_Mayek}\p{Limbu}\p{Lepcha}\p{Saurashtra}\p{Syloti_Nagri}
        \p{Chakma}\p{Brahmi}\p{Kaithi}\p{Sharada}\p{Khojki}\p{Khudawadi}\p{Grantha}\p{Newa}
        \p{Tirhuta}\p{Siddham}\p{Modi}\p{Takri}\x{0640}]]"
            .replace(char::is_whitespace, "")
            .as_str(),
    )
});

/// Combining marks that belong to no script and take that of the letter below them.
static BORROWED_MARK: LazyLock<Regex> = LazyLock::new(|| compile(r"[\p{M}&&\p{Inherited}]"));

/// What an emoji sequence is made of, the variation selector apart.
static EMOJI: LazyLock<Regex> = LazyLock::new(|| compile(r"[\p{Extended_Pictographic}\x{1F3FB}-\x{1F3FF}]"));

/// Whether `joiner` at byte `at` of `text` is a joiner that belongs there: after a letter or sign
/// of a joining script, or, for [`ZWJ`], between two emoji. False for every other character.
///
/// The work is bounded by the distance to the last character that is no combining mark, so asking
/// about every joiner of a text is linear in it.
pub(crate) fn is_proper(text: &str, at: usize, joiner: char) -> bool {
    let before = &text[..at];
    let after = &text[at + joiner.len_utf8()..];
    match joiner {
        ZWNJ => follows_joining_script(before),
        ZWJ => follows_joining_script(before) || links_emoji(before, after),
        _ => false,
    }
}

fn follows_joining_script(before: &str) -> bool {
    before.chars().rev().find(|c| !is_in(&BORROWED_MARK, *c)).is_some_and(|c| is_in(&JOINING, c))
}

fn links_emoji(before: &str, after: &str) -> bool {
    let base = before.strip_suffix(VS16).unwrap_or(before);
    let last = base.chars().next_back();
    let next = after.chars().next();
    last.is_some_and(|c| is_in(&EMOJI, c)) && next.is_some_and(|c| is_in(&EMOJI, c))
}

fn is_in(class: &Regex, c: char) -> bool {
    class.is_match(c.encode_utf8(&mut [0; 4]))
}
