//! Detection of characters that a reader cannot see but a model can.

use memchr::memchr2_iter;

use crate::FindingId;
use crate::finding::Hit;
use crate::joiners::{self, ZWJ, ZWNJ};

/// The characters and their ids: zero-width separators, invisible operators, the byte order mark,
/// and the marks that change the text direction.
const INVISIBLE: [(char, FindingId); 17] = [
    ('\u{200B}', FindingId::new("invisible_unicode_U+200B")),
    (ZWNJ, FindingId::new("invisible_unicode_U+200C")),
    (ZWJ, FindingId::new("invisible_unicode_U+200D")),
    ('\u{2060}', FindingId::new("invisible_unicode_U+2060")),
    ('\u{2062}', FindingId::new("invisible_unicode_U+2062")),
    ('\u{2063}', FindingId::new("invisible_unicode_U+2063")),
    ('\u{2064}', FindingId::new("invisible_unicode_U+2064")),
    ('\u{FEFF}', FindingId::new("invisible_unicode_U+FEFF")),
    ('\u{202A}', FindingId::new("invisible_unicode_U+202A")),
    ('\u{202B}', FindingId::new("invisible_unicode_U+202B")),
    ('\u{202C}', FindingId::new("invisible_unicode_U+202C")),
    ('\u{202D}', FindingId::new("invisible_unicode_U+202D")),
    ('\u{202E}', FindingId::new("invisible_unicode_U+202E")),
    ('\u{2066}', FindingId::new("invisible_unicode_U+2066")),
    ('\u{2067}', FindingId::new("invisible_unicode_U+2067")),
    ('\u{2068}', FindingId::new("invisible_unicode_U+2068")),
    ('\u{2069}', FindingId::new("invisible_unicode_U+2069")),
];

/// The first UTF-8 bytes of these characters.
const LEAD_BYTES: [u8; 2] = [0xE2, 0xEF];

/// Returns the first position of each distinct invisible character, in order of appearance. Skips
/// joiners that are part of a correct spelling ([`joiners::is_proper`]).
pub(crate) fn find(text: &str) -> Vec<Hit> {
    let bytes = text.as_bytes();
    let mut hits: Vec<Hit> = Vec::new();
    let mut counted = (0, 0);
    for at in memchr2_iter(LEAD_BYTES[0], LEAD_BYTES[1], bytes) {
        if !may_be_invisible(&bytes[at..]) {
            continue;
        }
        let Some(found) = text[at..].chars().next() else {
            continue;
        };
        let Some(&(_, id)) = INVISIBLE.iter().find(|(c, _)| *c == found) else {
            continue;
        };
        let known = hits.iter().any(|hit| hit.id == id);
        if known || joiners::is_proper(text, at, found) {
            continue;
        }
        counted = (at, counted.1 + text[counted.0..at].chars().count());
        hits.push(Hit { id, chars: counted.1..counted.1 + 1, folded: false });
    }
    hits
}

/// Returns whether a character that starts with one of [`LEAD_BYTES`] may be one of [`INVISIBLE`].
fn may_be_invisible(bytes: &[u8]) -> bool {
    match *bytes {
        [0xE2, 0x80, last, ..] => matches!(last, 0x8B..=0x8D | 0xAA..=0xAE),
        [0xE2, 0x81, ..] | [0xEF, 0xBB, ..] => true,
        _ => false,
    }
}

pub(crate) fn ids() -> impl Iterator<Item = FindingId> {
    INVISIBLE.iter().map(|(_, id)| *id)
}
