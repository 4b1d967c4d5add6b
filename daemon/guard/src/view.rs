//! The form in which texts are searched: one byte for each character.
//!
//! ASCII stands for itself. The patterns ask of any other character only what kind it is, so a
//! code from [`WORD`] on says that. A view of the raw text has exactly one byte for each of its
//! characters, so that its places are the text's.

/// A letter, mark or digit that looks like nothing in ASCII.
pub(crate) const WORD: u8 = 0x80;

/// White space outside ASCII; it ends no line.
pub(crate) const SPACE: u8 = 0x81;

/// Every other character outside ASCII: punctuation, symbols, what cannot be seen.
pub(crate) const OTHER: u8 = 0x82;

/// The typographic apostrophe, in raw views.
pub(crate) const APOSTROPHE: u8 = 0x83;

/// A letter of an alphabet other than the Latin one that looks like no Latin letter.
pub(crate) const FOREIGN: u8 = 0x84;

/// A letter that a reader takes for an `i` or an `l`, as the word demands.
pub(crate) const STROKE: u8 = 0x85;

/// A letter that looks like the Latin one in the lower seven bits, or like a [`STROKE`], if its
/// word is meant to be read so. Codes from here on are such candidates.
pub(crate) const CANDIDATE: u8 = 0xE0;

/// A candidate for [`STROKE`].
pub(crate) const CANDIDATE_STROKE: u8 = 0xFB;

/// Bits of [`KINDS`].
const IS_WORD: u8 = 1;
const IS_SPACE: u8 = 2;

/// What each byte of a view is.
static KINDS: [u8; 256] = kinds();

/// Each byte as the search for words sees it: small letters, `i`, `l` and [`STROKE`] as one, and all
/// white space as one.
pub(crate) static WORD_LETTERS: [u8; 256] = word_letters();

/// Whether the byte stands for a letter, mark, digit or underscore.
pub(crate) fn is_word(byte: u8) -> bool {
    KINDS[usize::from(byte)] & IS_WORD != 0
}

/// Whether the byte stands for white space, a line's end included.
pub(crate) fn is_space(byte: u8) -> bool {
    KINDS[usize::from(byte)] & IS_SPACE != 0
}

/// Whether a byte of a view is to be read as the given small ASCII letter or sign.
pub(crate) fn reads_as(byte: u8, letter: u8) -> bool {
    byte.to_ascii_lowercase() == letter || (byte == STROKE && matches!(letter, b'i' | b'l'))
}

const fn kinds() -> [u8; 256] {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let code = byte as u8;
        kinds[byte] = match code {
            b'_' | WORD | FOREIGN | STROKE | CANDIDATE.. => IS_WORD,
            b' ' | b'\t'..=b'\r' | SPACE => IS_SPACE,
            _ if code.is_ascii_alphanumeric() => IS_WORD,
            _ => 0,
        };
        byte += 1;
    }
    kinds
}

const fn word_letters() -> [u8; 256] {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let code = byte as u8;
        letters[byte] = match code.to_ascii_lowercase() {
            b'l' | STROKE => b'i',
            b'\t'..=b'\r' | SPACE => b' ',
            other => other,
        };
        byte += 1;
    }
    letters
}
