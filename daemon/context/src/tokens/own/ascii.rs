//! What ASCII text costs, in thousandths of a token.
//!
//! Tokenizers cut a text where letters, digits and signs meet, and take the space before a word
//! along. So what counts is how many letters and digits there are and how often each kind begins.
//! The counts are taken without branches over blocks, so that the compiler can use wide registers.

/// The beginning of a word; fitted 357.
const WORD: u64 = 360;
/// A letter; fitted 92.
const LETTER: u64 = 90;
/// What a capital costs besides; fitted 242.
const CAPITAL: u64 = 240;
/// What a capital behind a small letter costs besides: `camelCase`, and above all text that is
/// encoded; fitted 1,769.
const HUMP: u64 = 1_770;
/// A digit: numbers are cut after three digits at most, and most are shorter; fitted 825.
const DIGIT: u64 = 825;
/// The beginning of a run of spaces; most go with the word behind them; fitted 263.
const SPACES: u64 = 260;
/// A line break; fitted 467.
const LINE: u64 = 470;
/// The beginning of a run of signs; fitted 928.
const SIGNS: u64 = 930;

/// What stands before a text: no word, number or sign goes on behind it.
pub(super) const NOTHING: u8 = b'\n';

/// Bytes whose counts fit a byte.
const BLOCK: usize = 240;

/// The cost of ASCII bytes behind the byte `before`.
pub(super) fn cost(before: u8, bytes: &[u8]) -> u64 {
    let Some((&first, behind)) = bytes.split_first() else { return 0 };
    let mut sum = Counts::of(&[before], &[first]).cost();
    for (before, now) in bytes.chunks(BLOCK).zip(behind.chunks(BLOCK)) {
        sum += Counts::of(before, now).cost();
    }
    sum
}

/// How often each thing occurs in a block.
#[derive(Default)]
struct Counts {
    words: u8,
    letters: u8,
    capitals: u8,
    humps: u8,
    digits: u8,
    spaces: u8,
    lines: u8,
    signs: u8,
}

impl Counts {
    /// The counts of at most [`BLOCK`] bytes, each with the byte before it.
    fn of(before: &[u8], now: &[u8]) -> Self {
        let mut counts = Self::default();
        for (&before, &now) in before.iter().zip(now) {
            let letter = now.is_ascii_alphabetic();
            counts.letters += u8::from(letter);
            counts.words += u8::from(letter & !before.is_ascii_alphabetic());
            counts.capitals += u8::from(now.is_ascii_uppercase());
            counts.humps += u8::from(now.is_ascii_uppercase() & before.is_ascii_lowercase());
            counts.digits += u8::from(now.is_ascii_digit());
            counts.spaces += u8::from(is_space(now) & !is_space(before));
            counts.lines += u8::from(now == b'\n');
            counts.signs += u8::from(is_sign(now) & !is_sign(before));
        }
        counts
    }

    fn cost(&self) -> u64 {
        u64::from(self.words) * WORD
            + u64::from(self.letters) * LETTER
            + u64::from(self.capitals) * CAPITAL
            + u64::from(self.humps) * HUMP
            + u64::from(self.digits) * DIGIT
            + u64::from(self.spaces) * SPACES
            + u64::from(self.lines) * LINE
            + u64::from(self.signs) * SIGNS
    }
}

const fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\t') | (byte == b'\r')
}

/// Punctuation; control characters are treated alike.
const fn is_sign(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric() & !is_space(byte) & (byte != b'\n')
}
