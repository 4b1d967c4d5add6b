//! The Latin letter that a letter looks like.
//!
//! Most answers come from Unicode's own data (UTS 39). That data maps to prototypes, some of which
//! are Latin only to a linguist (small capitals, the phonetic alphabet). It also treats I, l and 1
//! as one. The table in this file therefore takes precedence.

use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

use super::alphabet::{is_latin, is_of_alphabet};

/// The Latin reading of a letter.
pub(super) enum Lookalike {
    /// One small letter.
    Letter(u8),
    /// An `i` or an `l`, whichever the word needs.
    Stroke,
    /// Several small letters, for a Latin ligature.
    Latin(Vec<u8>),
}

/// Letters by the Latin one that they look like, with capitals that differ from their small form.
const LETTERS: [(u8, &str); 24] = [
    (b'a', "ᴀɐɑαаΛɅ"),
    (b'b', "ʙɓвβьßƅ"),
    (b'c', "ᴄсϲɔ"),
    (b'd', "ᴅɗɖԁđδð"),
    (b'e', "ᴇɛεєеәəɘ"),
    (b'f', "ꜰғƒϝʄ"),
    (b'g', "ɢɡɠԍց"),
    (b'h', "ʜɦнһհħ"),
    (b'i', "іїɨ"),
    (b'j', "ᴊјյʝ"),
    (b'k', "ᴋĸкκқ"),
    (b'l', "ʟɫɬ"),
    (b'm', "ᴍɱмϻ"),
    (b'n', "ɴɲƞηпπոռɳ"),
    (b'o', "ᴏоοσօө"),
    (b'p', "ᴘрρƿ"),
    (b'q', "ԛզգ"),
    (b'r', "ʀɾɼɽгяЯ"),
    (b's', "ꜱѕςʂ"),
    (b't', "ᴛтτʈ"),
    (b'u', "ᴜυսʊʋμ"),
    (b'v', "ᴠνѵ"),
    (b'w', "ᴡɯωѡԝшШ"),
    (b'y', "ʏуγүұʎ"),
];

/// The remaining two letters.
const MORE_LETTERS: [(u8, &str); 2] = [(b'x', "хχ"), (b'z', "ᴢʐᴣ")];

/// Letters that look equally like an `i` and an `l`.
const STROKES: &str = "ıɩɪιӏӀІΙƖǀ";

/// Returns what the letter `c`, which has no compatibility form, looks like. `None` for most
/// letters, and for anything that is not a letter.
pub(super) fn of(c: char) -> Option<Lookalike> {
    if !c.is_alphabetic() || !is_of_alphabet(c) {
        return None;
    }
    own(c).or_else(|| by_skeleton(c))
}

fn own(c: char) -> Option<Lookalike> {
    if STROKES.contains(c) {
        return Some(Lookalike::Stroke);
    }
    let mut rows = LETTERS.iter().chain(&MORE_LETTERS);
    rows.find(|(_, letters)| letters.contains(c)).map(|(letter, _)| Lookalike::Letter(*letter))
}

fn by_skeleton(c: char) -> Option<Lookalike> {
    let given = c.to_string();
    let prototype: String = skeleton(&given).filter(|part| !is_combining_mark(*part)).collect();
    let mut letters = prototype.chars();
    match (letters.next()?, letters.next()) {
        ('l' | 'I', None) if !is_latin(c) => Some(Lookalike::Stroke),
        (letter, None) if letter.is_ascii_alphabetic() => {
            Some(Lookalike::Letter(u8::try_from(letter).ok()?.to_ascii_lowercase()))
        }
        (letter, None) => own(letter),
        ('r', Some('n')) if prototype.len() == 2 => Some(Lookalike::Letter(b'm')),
        _ if is_latin(c) && prototype.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Some(Lookalike::Latin(prototype.to_ascii_lowercase().into_bytes()))
        }
        _ => None,
    }
}
