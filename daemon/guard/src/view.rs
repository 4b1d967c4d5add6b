//! Views: the form in which texts are searched, with one byte per character.
//!
//! ASCII bytes are unchanged. For any other character the patterns only need its kind, which is a
//! code from [`WORD`] on. A view of the raw text has exactly one byte for each character, so
//! positions in it are positions in the text.

/// A letter, mark or digit that looks like nothing in ASCII.
pub(crate) const WORD: u8 = 0x80;

/// White space outside ASCII; it ends no line.
pub(crate) const SPACE: u8 = 0x81;

/// Every other character outside ASCII: punctuation, symbols, invisible characters.
pub(crate) const OTHER: u8 = 0x82;

/// The typographic apostrophe, in raw views.
pub(crate) const APOSTROPHE: u8 = 0x83;

/// A letter of a non-Latin alphabet that looks like no Latin letter.
pub(crate) const FOREIGN: u8 = 0x84;

/// A letter that reads as an `i` or an `l`, whichever the word needs.
pub(crate) const STROKE: u8 = 0x85;

/// A candidate: a letter that looks like the Latin letter in its lower bits, or like a [`STROKE`],
/// if its word is read as Latin. All codes from here on are candidates.
pub(crate) const CANDIDATE: u8 = 0xE0;

/// A candidate for [`STROKE`].
pub(crate) const CANDIDATE_STROKE: u8 = 0xFB;

/// Bits of [`KINDS`].
const IS_WORD: u8 = 1;
const IS_SPACE: u8 = 2;

/// The kind of each byte of a view.
static KINDS: [u8; 256] = kinds();

/// Each byte as the search for words reads it: letters are small, `i`, `l` and [`STROKE`] are one
/// letter, and all white space is a space.
pub(crate) static WORD_LETTERS: [u8; 256] = word_letters();

/// Returns whether the byte is a letter, mark, digit or underscore.
pub(crate) fn is_word(byte: u8) -> bool {
    KINDS[usize::from(byte)] & IS_WORD != 0
}

/// Returns whether the byte is white space, including newlines.
pub(crate) fn is_space(byte: u8) -> bool {
    KINDS[usize::from(byte)] & IS_SPACE != 0
}

/// Returns whether a byte of a view reads as the given small ASCII letter or sign.
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
