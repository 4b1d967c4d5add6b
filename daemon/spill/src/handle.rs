//! The names of outputs: `out_` and twenty hex digits, derived from the path of the output's file.

use std::fmt;

use sha2::{Digest, Sha256};

const PREFIX: &str = "out_";

/// Bytes of a handle, which has twice as many hex digits.
const LENGTH: usize = 10;

/// The name of an output. Equal files have equal handles, after a restart too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle([u8; LENGTH]);

impl Handle {
    /// Returns the handle of the output whose file is `<folder>/<name>` below the root.
    #[must_use]
    pub fn of(file: &str) -> Self {
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(&Sha256::digest(file)[..LENGTH]);
        Self(bytes)
    }

    /// Parses a handle; `None` if the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        let read = base16ct::lower::decode(text.strip_prefix(PREFIX)?, &mut bytes).ok()?.len();
        (read == LENGTH).then_some(Self(bytes))
    }
}

/// Splits a handle that may name a line (`out_…:120`) into the handle and the line, from 1.
#[must_use]
pub fn split_line(handle: &str) -> (&str, Option<usize>) {
    match handle.split_once(':').map(|(handle, line)| (handle, line.parse())) {
        Some((handle, Ok(line))) if line > 0 => (handle, Some(line)),
        _ => (handle, None),
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_read_back_and_others_are_not() {
        let handle = Handle::of("s/call_1.txt");
        assert_eq!(Handle::parse(&handle.to_string()), Some(handle));
        for text in ["", "out_", "out_nothing", "out_0123456789abcdef012", "out_0123456789ABCDEF0123", "x"] {
            assert_eq!(Handle::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_may_follow() {
        for (text, expected) in [
            ("out_1", ("out_1", None)),
            ("out_1:120", ("out_1", Some(120))),
            ("out_1:0", ("out_1:0", None)),
            ("out_1:x", ("out_1:x", None)),
        ] {
            assert_eq!(split_line(text), expected);
        }
    }
}
