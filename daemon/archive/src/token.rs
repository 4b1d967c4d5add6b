//! Cuts a text into the tokens of the index.
//!
//! Pure: does no I/O. Text is normalised first ([`normalise`]), then cut into runs of one kind of script ([`runs`]),
//! and each run becomes tokens. A run of a script with spaces between words is one token. A run of a script without
//! them becomes overlapping pairs of chars and its last char. So every word of two chars and more is found as a phrase
//! of pairs, and one char as the beginning of a pair.

use std::borrow::Cow;
use std::ops::Range;

use herma_json::terminal::blanked;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::language::{Language, says_when};
use crate::stems;
use crate::terms::{Counting, Marks, PIECE, WORD};

/// Chars of a word that count; the rest is ignored. Longer words are keys and data.
pub const LONGEST_WORD: usize = 64;

/// Bytes from which on a stretch of letters, digits, `+`, `/` and `=` may be encoded data.
const BLOB: usize = 64;

/// Bytes from which on such a stretch is encoded data, whatever it consists of.
const SURE_BLOB: usize = 256;

/// Part of a text in one kind of script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'a> {
    /// The text, normalised, in its own case.
    pub text: &'a str,
    /// Where it begins in the normalised text, in bytes.
    pub start: usize,
    /// Whether its script puts spaces between words.
    pub spaced: bool,
}

/// The tokens of a text, joined by spaces, and their counts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The tokens of every run.
    pub words: String,
    /// Stems of words that differ from the word.
    pub stems: String,
    /// The parts of words that are written likeThis.
    pub pieces: String,
    /// The terms with their counts.
    pub(crate) counting: Counting,
    pub(crate) marks: Marks,
}

/// Returns the tokens of a text.
#[must_use]
pub fn tokens(text: &str) -> Tokens {
    let normalised = normalise(text);
    let mut tokens = Tokens::default();
    let (mut words, mut pieces_of) = (Vec::new(), Vec::new());
    for run in runs(&normalised) {
        if run.spaced {
            words.push(push_token(&mut tokens.words, cut(run.text)));
            pieces_of.extend(pieces(cut(run.text)).into_iter().map(|piece| push_token(&mut tokens.pieces, piece)));
            tokens.counting.word();
        } else {
            for pair in pairs(run.text) {
                let range = push_token(&mut tokens.words, pair);
                tokens.counting.word();
                tokens.counting.term(tokens.words.get(range).unwrap_or(""), WORD);
            }
        }
    }
    let each = |range: &Range<usize>| tokens.words.get(range.clone()).unwrap_or("");
    let latin = Language::of_latin(words.iter().map(each)).unwrap_or(Language::English);
    tokens.marks = Marks {
        asks: text.trim_end().ends_with(['?', '\u{ff1f}', '\u{037e}', '\u{061f}']),
        dated: says_when(&normalised, words.iter().map(each)),
    };
    for (text, ranges, counts) in [(&tokens.words, &words, WORD), (&tokens.pieces, &pieces_of, PIECE)] {
        for word in ranges.iter().filter_map(|range| text.get(range.clone())) {
            let language = Language::of_letters(word).unwrap_or(latin);
            stems::with(language, word, |stem| {
                tokens.counting.term(stem, counts);
                if stem != word {
                    separate(&mut tokens.stems);
                    tokens.stems.push_str(stem);
                }
            });
        }
    }
    tokens
}

/// Appends a lowercase token, and returns its range.
fn push_token(into: &mut String, token: &str) -> Range<usize> {
    separate(into);
    let start = into.len();
    push_lower(into, token);
    start..into.len()
}

/// Normalises a text. Wide and narrow forms become one (NFKC). Accents and other marks that readers leave out are
/// dropped, and so are invisible chars. Escape sequences of terminals become spaces. Case stays, and so does the short
/// i of Cyrillic, which is a letter of its own.
#[must_use]
pub fn normalise(text: &str) -> Cow<'_, str> {
    let text = blanked(text);
    if text.is_ascii() {
        return text;
    }
    let mut before = ' ';
    let kept = text.nfkd().filter(|&char| {
        let is_kept = !is_dropped(char) || (char == BREVE && matches!(before, 'и' | 'И'));
        before = char;
        is_kept
    });
    Cow::Owned(kept.nfc().collect())
}

/// The mark that turns an i into a short i.
const BREVE: char = '\u{0306}';

/// Returns the runs of a normalised text, in order. Punctuation, space and text that looks like encoded data are in no
/// run.
pub fn runs(normalised: &str) -> impl Iterator<Item = Run<'_>> {
    Runs { text: normalised, at: 0, looked: 0 }
}

/// Returns the tokens of a run of an unspaced script: pairs of neighbours, then the last char alone.
pub fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let ends = run.char_indices().map(|(at, char)| at + char.len_utf8());
    let next_ends = ends.clone().skip(1).chain(std::iter::once(run.len()));
    run.char_indices().zip(next_ends).filter_map(|((start, _), end)| run.get(start..end))
}

/// Returns the first [`LONGEST_WORD`] chars of a word.
#[must_use]
pub fn cut(word: &str) -> &str {
    if word.len() <= LONGEST_WORD {
        return word;
    }
    word.char_indices().nth(LONGEST_WORD).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

/// Returns a token in the form in which tokens are compared.
#[must_use]
pub fn lower(token: &str) -> Cow<'_, str> {
    if token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(token);
    }
    let mut lower = String::with_capacity(token.len());
    push_lower(&mut lower, token);
    Cow::Owned(lower)
}

fn push_lower(into: &mut String, token: &str) {
    if token.is_ascii() {
        into.extend(token.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        // Which of the two small sigmas is written depends only on its place in the word.
        into.extend(token.chars().flat_map(char::to_lowercase).map(|char| if char == 'ς' { 'σ' } else { char }));
    }
}

fn separate(tokens: &mut String) {
    if !tokens.is_empty() {
        tokens.push(' ');
    }
}

/// Returns the parts of a word that is written likeThis or LIKEThis; none for any other word.
pub(crate) fn pieces(word: &str) -> Vec<&str> {
    if word.is_ascii() && !word.bytes().skip(1).any(|letter| letter.is_ascii_uppercase()) {
        return Vec::new();
    }
    let mut starts = Vec::new();
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, char)) = chars.next() {
        let after_small = before.is_some_and(|before| !before.is_uppercase());
        let before_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        if char.is_uppercase() && before.is_some() && (after_small || before_small) {
            starts.push(at);
        }
        before = Some(char);
    }
    if starts.is_empty() {
        return Vec::new();
    }
    let ends = starts.iter().copied().chain(std::iter::once(word.len()));
    std::iter::once(0).chain(starts.iter().copied()).zip(ends).filter_map(|(start, end)| word.get(start..end)).collect()
}

struct Runs<'a> {
    text: &'a str,
    /// Where to continue, in bytes.
    at: usize,
    /// Up to where there is no encoded data, in bytes.
    looked: usize,
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        loop {
            let rest = self.text.get(self.at..)?;
            let (offset, kind) = rest.char_indices().find_map(|(at, char)| start(char).map(|kind| (at, kind)))?;
            let start = self.at + offset;
            let from_start = self.text.get(start..)?;
            if start >= self.looked {
                let stretch = from_start.bytes().take_while(|byte| is_of_blob(*byte)).count();
                self.looked = start + stretch;
                if from_start.get(..stretch).is_some_and(is_blob) {
                    self.at = start + stretch;
                    continue;
                }
            }
            let length = from_start
                .char_indices()
                .find(|(_, char)| !continues(*char, kind))
                .map_or(from_start.len(), |(at, _)| at);
            self.at = start + length;
            return Some(Run { text: from_start.get(..length)?, start, spaced: kind == Kind::Spaced });
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Spaced,
    Unspaced,
}

fn kind(char: char) -> Option<Kind> {
    if char.is_ascii() {
        return char.is_ascii_alphanumeric().then_some(Kind::Spaced);
    }
    if !char.is_alphanumeric() && !is_combining_mark(char) {
        return None;
    }
    Some(if is_unspaced(char) { Kind::Unspaced } else { Kind::Spaced })
}

/// Returns the kind of a run that begins with this char. A mark alone begins none.
fn start(char: char) -> Option<Kind> {
    if char.is_alphanumeric() { kind(char) } else { None }
}

fn continues(char: char, run: Kind) -> bool {
    kind(char) == Some(run)
}

/// Han, Kana, Bopomofo, Hangul, Thai, Lao, Myanmar, Khmer.
fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Accents and enclosing marks; the vowel points of Hebrew and Arabic; soft hyphens
/// and joiners.
fn is_dropped(char: char) -> bool {
    matches!(char,
        '\u{0300}'..='\u{036f}'
        | '\u{0591}'..='\u{05c7}'
        | '\u{0610}'..='\u{061a}'
        | '\u{064b}'..='\u{065f}'
        | '\u{0670}'
        | '\u{00ad}'
        | '\u{200c}'..='\u{200f}'
        | '\u{2060}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}')
}

fn is_of_blob(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a stretch is encoded data. Such data mixes uppercase and lowercase letters and digits as no text does. A
/// path or a hash does not.
fn is_blob(stretch: &str) -> bool {
    if stretch.len() < BLOB {
        return false;
    }
    let share = |test: fn(&u8) -> bool| stretch.bytes().filter(test).count() * 10 >= stretch.len();
    stretch.len() >= SURE_BLOB
        || (share(u8::is_ascii_digit) && share(u8::is_ascii_uppercase) && share(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests;
