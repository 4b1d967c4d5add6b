//! Replaces lone surrogates in JSON text. JavaScript writes `\ud83d` alone, which is not a character.

use std::io::{self, Read};

/// The bytes read at one time.
const PART: usize = 64 << 10;

/// The bytes of the escapes of a surrogate pair.
const BOTH: usize = 12;

/// The replacement of a lone surrogate. It has the same length.
const UNKNOWN: &[u8; 4] = b"fffd";

/// Reads a source and replaces lone surrogates. Backslashes occur only in strings, so the rest of the JSON need not be
/// parsed.
pub(super) struct SurrogateReader<R> {
    source: R,
    bytes: Vec<u8>,
    /// The ends of the bytes that were already returned, and of those that were already checked.
    given: usize,
    looked: usize,
    is_over: bool,
}

impl<R: Read> SurrogateReader<R> {
    pub(super) const fn new(source: R) -> Self {
        Self { source, bytes: Vec::new(), given: 0, looked: 0, is_over: false }
    }

    /// Reads more bytes, and checks them.
    fn fill(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.given);
        self.looked -= self.given;
        self.given = 0;
        let before = self.bytes.len();
        let read = (&mut self.source).take(PART as u64).read_to_end(&mut self.bytes)?;
        self.is_over = read < PART;
        debug_assert_eq!(self.bytes.len(), before + read);
        self.look();
        Ok(())
    }

    fn look(&mut self) {
        while let Some(rest) = self.bytes.get_mut(self.looked..).filter(|rest| !rest.is_empty()) {
            let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
            self.looked += plain;
            let Some(escape) = rest.get_mut(plain..).filter(|rest| !rest.is_empty()) else { return };
            if escape.len() < BOTH && !self.is_over {
                return;
            }
            let length = replace_lone(escape);
            self.looked += length.min(escape.len());
        }
    }
}

/// Replaces a lone surrogate at the beginning. Returns how many bytes are then checked.
fn replace_lone(escape: &mut [u8]) -> usize {
    let half = |at: usize| {
        let escape = escape.get(at..at + 6)?;
        let digits = escape.strip_prefix(b"\\u").and_then(|digits| std::str::from_utf8(digits).ok())?;
        u16::from_str_radix(digits, 16).ok()
    };
    let is_first = |half: Option<u16>| matches!(half, Some(0xd800..=0xdbff));
    let is_second = |half: Option<u16>| matches!(half, Some(0xdc00..=0xdfff));
    match (half(0), half(6)) {
        (None, _) => 2,
        (first, second) if is_first(first) && is_second(second) => BOTH,
        (one, _) => {
            if (is_first(one) || is_second(one))
                && let Some(digits) = escape.get_mut(2..6)
            {
                digits.copy_from_slice(UNKNOWN);
            }
            6
        }
    }
}

impl<R: Read> Read for SurrogateReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.looked && !(self.is_over && self.looked == self.bytes.len()) {
            self.fill()?;
        }
        let ready = self.bytes.get(self.given..self.looked).unwrap_or_default();
        let count = ready.len().min(buffer.len());
        buffer.iter_mut().zip(ready).for_each(|(to, from)| *to = *from);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn surrogates(text: &str) -> String {
        let mut surrogates = String::new();
        SurrogateReader::new(text.as_bytes()).read_to_string(&mut surrogates).unwrap();
        surrogates
    }

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        for (text, expect) in [
            ("", ""),
            (r#"["a\ud83d"]"#, r#"["a\ufffd"]"#),
            (r#"["\ud83d\ude00 \ude00"]"#, r#"["\ud83d\ude00 \ufffd"]"#),
            (r#"["\ud83d\ud83d\ude00"]"#, r#"["\ufffd\ud83d\ude00"]"#),
            (r#"["\\ud83d \\\ud83d"]"#, r#"["\\ud83d \\\ufffd"]"#),
            (r#"["\u00e9\n\"é"]"#, r#"["\u00e9\n\"é"]"#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\\", "\\"),
        ] {
            assert_eq!(surrogates(text), expect);
        }
    }

    #[test]
    fn a_half_is_seen_wherever_the_parts_end() {
        for before in PART - 14..PART + 2 {
            let text = format!("\"{}\\ud83d\\ude00\\ud83d\"", "a".repeat(before));
            assert!(surrogates(&text).ends_with("\\ud83d\\ude00\\ufffd\""), "{before}");
        }
    }

    proptest! {
        #[test]
        fn it_is_json_then_and_as_long(parts in prop::collection::vec(r#"[a-z]|\\\\|\\n|\\ud83d|\\ude00|\\u00e9"#, 0..40)) {
            let text = format!("\"{}\"", parts.concat());
            let surrogates = surrogates(&text);
            prop_assert_eq!(surrogates.len(), text.len());
            prop_assert!(serde_json::from_str::<String>(&surrogates).is_ok(), "{}", surrogates);
        }
    }
}
