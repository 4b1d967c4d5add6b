//! The script-aware estimate: the script of each char, and the beginnings of words, numbers and signs,
//! determine the cost of a text.
//!
//! All costs are thousandths of a token. Those of ASCII are the least-squares fit of the `o200k_base`
//! tokenizer over 170 texts of English, German and other Latin script, Rust, Python, JSON, logs, terminal
//! output, base64 and hashes. Those of the other scripts are that tokenizer's counts for running text, less
//! the ASCII in it. `docs/counting.md` has the measurement, and the texts are next to the tests. They are a
//! starting point: the daemon corrects the sum for each session with the provider's reports.

mod ascii;

use crate::json::{Piece, Pieces};

/// A Latin letter that is not ASCII. The letter itself is one token at most. The rest is the price of the
/// language around it, whose words have fewer letters per token than English ones. Fitted with ASCII: 1,190.
const ACCENTED: u64 = 1_190;
/// A Cyrillic letter; measured 242.
const CYRILLIC: u64 = 240;
/// A letter or sign of Greek, Armenian, Georgian, Hebrew, Arabic, an Indic script or Thai;
/// measured 331 (Arabic) and 319 (Hindi).
const ALPHABET: u64 = 330;
/// A letter of a script that is rare in the training data of tokenizers: Tibetan, Ethiopic, Khmer and the
/// like. Not measured: about a token each.
const RARE: u64 = 1_000;
/// A Chinese character; measured 750 in Chinese, about 800 in Japanese.
const HAN: u64 = 780;
/// A letter of Hiragana or Katakana; measured 700.
const KANA: u64 = 700;
/// A Korean syllable; measured 685.
const HANGUL: u64 = 690;
/// Punctuation and signs that are not ASCII: most are a token.
const SIGN: u64 = 1_000;
/// Lines, blocks and shapes of tables and bars, which come in runs; measured 400.
const DRAWING: u64 = 400;
/// Chars that join or vary emoji; measured 800.
const JOINER: u64 = 800;
/// Emoji and other chars beyond the basic plane, and chars without a class; measured 2,030.
const SYMBOL: u64 = 2_000;
/// Thousandths in a token.
pub(crate) const SCALE: u64 = 1_000;

/// Returns the estimate of a text.
pub fn own_estimate_text(text: &str) -> u64 {
    cost(text).div_ceil(SCALE)
}

/// Returns the cost of a JSON string, in thousandths of a token, without copying its text.
pub(super) fn string_cost(token: &str) -> u64 {
    let mut counter = Counter::default();
    for piece in Pieces::new(token, 0) {
        match piece {
            Piece::Run(run) => counter.text(run),
            Piece::Escape(c) => counter.text(c.encode_utf8(&mut [0; 4])),
        }
    }
    counter.thousandths
}

/// Returns the cost of a text, in thousandths of a token.
pub(super) fn cost(text: &str) -> u64 {
    let mut counter = Counter::default();
    counter.text(text);
    counter.thousandths
}

/// Counts the cost of a text that comes in pieces.
struct Counter {
    thousandths: u64,
    /// The last byte, which decides whether a word, a number or a run of signs continues.
    before: u8,
}

impl Default for Counter {
    fn default() -> Self {
        Self { thousandths: 0, before: ascii::NOTHING }
    }
}

impl Counter {
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            let Some((plain, other)) = rest.split_at_checked(ascii) else { return };
            self.thousandths += ascii::cost(self.before, plain.as_bytes());
            self.before = plain.as_bytes().last().copied().unwrap_or(self.before);
            let mut chars = other.chars();
            if let Some(c) = chars.next() {
                self.thousandths += char_cost(c);
                // A word continues after an accented letter.
                self.before = if is_latin(c) { b'a' } else { ascii::NOTHING };
            }
            rest = chars.as_str();
        }
    }
}

const fn is_latin(c: char) -> bool {
    matches!(c as u32, 0xC0..0x250 | 0x300..0x370 | 0x1E00..0x1F00)
}

/// Returns the cost of a char that is not ASCII.
const fn char_cost(c: char) -> u64 {
    match c as u32 {
        _ if is_latin(c) => ACCENTED,
        0x400..0x530 => CYRILLIC,
        0x370..0xF00 | 0x10A0..0x1100 | 0x1F00..0x2000 => ALPHABET,
        0xF00..0x10A0 | 0x1200..0x1E00 => RARE,
        0x1100..0x1200 | 0x3130..0x3190 | 0xA960..0xA980 | 0xAC00..0xD800 => HANGUL,
        0x3040..0x3100 | 0x31F0..0x3200 | 0xFF66..0xFFA0 => KANA,
        0x2E80..0x3000 | 0x3400..0xA4D0 | 0xF900..0xFB00 | 0x20000..0x34000 => HAN,
        0x200C..0x200E | 0xFE00..0xFE10 | 0xE0000..0xE0200 => JOINER,
        0x2500..0x2600 => DRAWING,
        0x80..0x300 | 0x2000..0x2E80 | 0x3000..0x3400 | 0xFE10..0x10000 => SIGN,
        0xA4D0..0xAC00 => RARE,
        _ => SYMBOL,
    }
}

#[cfg(test)]
mod tests;
