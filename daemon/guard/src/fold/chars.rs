//! The bytes of a character in both views.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::alphabet::{is_latin, is_of_alphabet};
use super::lookalikes::{self, Lookalike};
use crate::view::{APOSTROPHE, CANDIDATE, CANDIDATE_STROKE, FOREIGN, OTHER, SPACE, STROKE, WORD};

/// Returns a character's byte in the raw view. The long s and the Kelvin sign equal letters if case is ignored.
pub(super) fn raw(c: char) -> u8 {
    match c {
        '\u{17F}' => b's',
        '\u{212A}' => b'k',
        '\u{2019}' => APOSTROPHE,
        '\u{200C}' | '\u{200D}' | '\u{203F}' | '\u{2040}' | '\u{2054}' | '\u{FE33}' | '\u{FE34}' => WORD,
        _ => kind(c),
    }
}

/// Appends a character's bytes in the folded view, with candidate letters not yet decided.
pub(super) fn fold(c: char, folded: &mut Vec<u8>) {
    if c.is_ascii() {
        folded.extend(u8::try_from(c));
    } else if let Some(sign) = sign(c) {
        folded.push(sign);
    } else if is_of_arabic_form(c) {
        folded.push(opaque(c));
    } else if matches!(c, 'ϲ' | 'Ϲ') {
        // Unicode decomposes the lunate sigma to another sigma, which does not look like a c.
        fold_part(c, folded);
    } else if is_seen(c) {
        let start = folded.len();
        let without_brackets = matches!(c, '\u{249C}'..='\u{24B5}' | '\u{1F110}'..='\u{1F129}');
        decompose_compatible(c, |part| match part {
            '(' | ')' if without_brackets => {}
            part => fold_part(part, folded),
        });
        // A syllable or ligature without any Latin part counts as one letter.
        if folded[start..].iter().all(|byte| matches!(*byte, WORD | FOREIGN | OTHER)) {
            folded.truncate(start);
            folded.push(opaque(c));
        }
    }
}

/// Returns whether the character is a presentation form of Arabic. Some of them encode a whole sentence.
fn is_of_arabic_form(c: char) -> bool {
    matches!(c, '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

/// Appends the bytes of one part of a character's compatibility form.
fn fold_part(part: char, folded: &mut Vec<u8>) {
    if part.is_ascii() {
        folded.extend(u8::try_from(part));
        return;
    }
    if !is_seen(part) {
        return;
    }
    match (sign(part), lookalikes::of(part)) {
        (Some(sign), _) => folded.push(sign),
        (None, Some(Lookalike::Latin(letters))) => folded.extend_from_slice(&letters),
        (None, Some(Lookalike::Stroke)) => folded.push(if is_latin(part) { STROKE } else { CANDIDATE_STROKE }),
        (None, Some(Lookalike::Letter(letter))) if is_latin(part) => folded.push(letter),
        (None, Some(Lookalike::Letter(letter))) => folded.push(CANDIDATE | (letter & 0x1F)),
        (None, None) => folded.push(opaque(part)),
    }
}

/// Returns whether the character is visible and more than a mark on another one.
fn is_seen(c: char) -> bool {
    let is_format = matches!(c,
        '\u{80}'..='\u{9F}' | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{70F}' | '\u{115F}' | '\u{1160}'
        | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}');
    !is_format && !is_combining_mark(c)
}

/// Returns the plain form of white space, typographic signs, and letters in black circles, black squares and flags.
fn sign(c: char) -> Option<u8> {
    Some(match c {
        '\u{2800}' => b' ',
        _ if c.is_whitespace() => b' ',
        '´' | '‘'..='‛' | '′' | '‵' | 'ʹ' | 'ʻ'..='ʽ' | 'ˈ' | '՚' | 'ꞌ' => b'\'',
        '“'..='‟' | '″' | '‶' | '〝'..='〟' | 'ˮ' | '״' => b'"',
        '‐'..='―' | '−' | '⁃' | '˗' | '֊' | '᠆' | '⸺' | '⸻' | '➖' => b'-',
        '⁄' | '∕' | '╱' | '⧸' | '⟋' => b'/',
        '˜' | '∼' | '∽' | '〜' | '⁓' => b'~',
        '꞉' | 'ː' | '˸' | '∶' => b':',
        'ꓸ' => b'.',
        '꞊' => b'=',
        '‹' | '〈' | '⟨' | '❮' | '˂' | 'ᐸ' => b'<',
        '›' | '〉' | '⟩' | '❯' | '˃' | 'ᐳ' => b'>',
        'ǃ' => b'!',
        'ˍ' | '‿' => b'_',
        '\u{1F150}'..='\u{1F169}' => letter_after(c, '\u{1F150}'),
        '\u{1F170}'..='\u{1F189}' => letter_after(c, '\u{1F170}'),
        '\u{1F1E6}'..='\u{1F1FF}' => letter_after(c, '\u{1F1E6}'),
        _ => return None,
    })
}

fn letter_after(c: char, a: char) -> u8 {
    b'a' + u8::try_from(u32::from(c) - u32::from(a)).unwrap_or(0)
}

/// Returns the byte for a character that looks like nothing in ASCII.
fn opaque(c: char) -> u8 {
    if c.is_alphabetic() && is_of_alphabet(c) && !is_latin(c) { FOREIGN } else { kind(c) }
}

fn kind(c: char) -> u8 {
    match c {
        _ if c.is_whitespace() => SPACE,
        _ if c.is_alphanumeric() || is_combining_mark(c) => WORD,
        _ => OTHER,
    }
}
