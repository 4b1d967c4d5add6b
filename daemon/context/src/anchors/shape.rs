//! The shape of a line: words and numbers become one sign each.

use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::hash::Fnv;

/// The most signs of a shape; a longer line has the shape of its beginning.
const MAX_SIGNS: usize = 40;
/// The sign of a word.
const WORD: u8 = b'a';
/// The sign of anything with a digit in it.
const NUMBER: u8 = b'0';

/// Returns the shape of a line. Runs of equal signs count once, white space does not count. So sentences of
/// any length have the same shape.
pub(super) fn shape(line: &str) -> u64 {
    let mut hash = Fnv::default();
    let (mut last, mut signs, mut run) = (0_u8, 0, 0_u8);
    let mut emit = |sign: u8, hash: &mut Fnv| {
        if sign != last {
            hash.byte(sign);
            last = sign;
            signs += 1;
        }
        signs < MAX_SIGNS
    };
    for &byte in line.as_bytes() {
        match CLASS[usize::from(byte)] {
            Class::Letter => run |= 1,
            Class::Digit => run |= 2,
            class => {
                if run != 0 && !emit(if run & 2 == 0 { WORD } else { NUMBER }, &mut hash) {
                    return hash.finish();
                }
                run = 0;
                if matches!(class, Class::Sign) && !emit(byte, &mut hash) {
                    return hash.finish();
                }
            }
        }
    }
    if run != 0 {
        emit(if run & 2 == 0 { WORD } else { NUMBER }, &mut hash);
    }
    hash.finish()
}

#[derive(Clone, Copy)]
enum Class {
    Letter,
    Digit,
    Space,
    Sign,
}

/// The class of each byte; bytes beyond ASCII are letters.
static CLASS: [Class; 256] = {
    let mut table = [Class::Letter; 256];
    let mut at = 0_u8;
    while at < 128 {
        table[at as usize] = match at {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            0..=b' ' | 127 => Class::Space,
            _ => Class::Sign,
        };
        at += 1;
    }
    table
};

/// The number of lines of each shape.
pub(super) type Counts = HashMap<u64, u32, BuildHasherDefault<IdentityHasher>>;

/// A hasher whose keys already are hashes.
#[derive(Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_do_not_matter_but_signs_do() {
        assert_eq!(shape("Take the red one."), shape("Go."));
        assert_eq!(shape("12:30 [worker-3] id=a1b2"), shape("01:02 [x-11] key=9"));
        assert_ne!(shape("error: no file"), shape("error, no file"));
        assert_eq!(shape("=== a"), shape("= b"));
        assert_eq!(shape(""), shape("  "));
    }
}
