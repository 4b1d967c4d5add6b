//! Zero-width joiners and non-joiners that are part of the spelling.

use crate::fold::{Traits, traits};

/// ZERO WIDTH NON-JOINER.
pub(crate) const ZWNJ: char = '\u{200C}';

/// ZERO WIDTH JOINER.
pub(crate) const ZWJ: char = '\u{200D}';

/// The variation selectors for the text form and the emoji form of the preceding character.
const FORMS: [char; 2] = ['\u{FE0E}', '\u{FE0F}'];

/// Returns whether `joiner` at byte `at` of `text` is a joiner in a correct place: after a letter
/// or sign of a joining script, or, for [`ZWJ`], between two emoji. False for every other
/// character.
///
/// The cost is bounded by the distance to the last character that is not a combining mark. So
/// checking all joiners of a text is linear.
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
    let letter = before.chars().rev().find(|c| !traits(*c).contains(Traits::BORROWED));
    letter.is_some_and(|c| traits(c).contains(Traits::JOINING))
}

fn links_emoji(before: &str, after: &str) -> bool {
    let base = before.strip_suffix(FORMS).unwrap_or(before);
    let is_emoji = |c| traits(c).contains(Traits::EMOJI);
    base.chars().next_back().is_some_and(is_emoji) && after.chars().next().is_some_and(is_emoji)
}
