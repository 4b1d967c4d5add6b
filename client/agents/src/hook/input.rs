//! Reads an event from standard input: one JSON object.

use std::io::{self, Read};

/// The bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Returns the object of an input, or all of the input if it has no whole one. The end of the input isn't waited for, because
/// not every program that starts a hook closes it: Bun may leave it open while it starts another process.
///
/// # Errors
/// The input can't be read.
pub(super) fn read(mut input: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let (mut text, mut end) = (Vec::new(), ObjectEnd::default());
    while text.len() < limit {
        let known = text.len();
        text.resize(limit.min(known + CHUNK), 0);
        let count = match input.read(&mut text[known..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Ok(0) => {
                text.truncate(known);
                break;
            }
            read => read?,
        };
        text.truncate(known + count);
        if let Some(at) = end.find(&text[known..]) {
            text.truncate(known + at);
            break;
        }
    }
    Ok(text)
}

/// Finds the end of a JSON object in a text that comes in pieces.
#[derive(Debug, Default)]
struct ObjectEnd {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl ObjectEnd {
    /// Returns the offset behind the object's last brace, if it is in this piece.
    fn find(&mut self, piece: &[u8]) -> Option<usize> {
        for (at, byte) in piece.iter().enumerate() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'{' => self.depth += 1,
                b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Gives so many bytes at once.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
            into[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    #[test]
    fn an_object_ends_with_its_brace() {
        for (text, expected) in [
            (r#"{"a":{"b":"}\"}"}} {"next":1}"#, r#"{"a":{"b":"}\"}"}}"#),
            (" \n{}\n", " \n{}"),
            (r#"{"a":"\\"}{"#, r#"{"a":"\\"}"#),
            (r#"{"a":"open"#, r#"{"a":"open"#),
            ("", ""),
            ("no object", "no object"),
        ] {
            for size in [1, 2, 3, 1_000] {
                let read = read(Pieces(text.as_bytes(), size), 1_000).unwrap();
                assert_eq!(String::from_utf8_lossy(&read), expected, "{size}");
            }
        }
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(3 * CHUNK));
        assert_eq!(read(long.as_bytes(), long.len()).unwrap(), long.as_bytes());
        assert_eq!(read(long.as_bytes(), 100_000).unwrap(), &long.as_bytes()[..100_000]);
    }

    #[test]
    fn an_input_that_stays_open_is_not_waited_for() {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(b"{\"a\": 1}").unwrap();
        // So that it fails, and doesn't wait for ever.
        other.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        assert_eq!(read(other, 1_000).unwrap(), b"{\"a\": 1}");
    }
}
