//! Finds a member of an object that no parser can read: invalid UTF-8, too deep, cut off or too
//! long. Such a request can still be identified by its id.

/// The most bytes of a key or value that are kept; longer ones are not found.
const KEPT: usize = 512;

/// Finds a string or number member of the outermost object. The bytes arrive piece by piece and
/// need not be valid JSON. If several members have the key, the last one counts.
#[derive(Debug)]
pub struct ScalarFinder {
    /// The key as written in the text, with its quotes.
    key: Vec<u8>,
    depth: usize,
    string: InString,
    place: Place,
    token: Vec<u8>,
    found: Option<String>,
}

/// Whether the next byte is inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InString {
    No,
    Yes,
    /// After a backslash.
    Escaped,
}

/// What the finder expects next in the outermost object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    /// A colon after a key, and whether that is the wanted key.
    Colon(bool),
    /// The wanted value.
    Value,
    /// Another value, or the rest after a value.
    Rest,
}

impl ScalarFinder {
    /// Creates a finder for the member with this key. The key must not contain a char that JSON escapes.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let key = format!("\"{key}\"").into_bytes();
        Self { key, depth: 0, string: InString::No, place: Place::Rest, token: Vec::new(), found: None }
    }

    /// Processes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match self.string {
                InString::No => self.outside(*byte),
                InString::Escaped => {
                    self.string = InString::Yes;
                    self.keep(*byte);
                }
                InString::Yes if !self.is_kept() => {
                    // Most bytes of a line belong to other members.
                    let rest = &bytes[at - 1..];
                    let stop = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    at += stop;
                    match rest.get(stop) {
                        Some(b'"') => self.string = InString::No,
                        Some(_) => self.string = InString::Escaped,
                        None => {}
                    }
                }
                InString::Yes => self.inside(*byte),
            }
        }
    }

    /// Returns the value as written in the text: a string with its quotes, or a number.
    #[must_use]
    pub fn found(self) -> Option<String> {
        self.found
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.string = InString::Yes;
                if self.depth == 1 && matches!(self.place, Place::Key | Place::Value) {
                    self.token.clear();
                    self.token.push(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                match (self.depth, byte) {
                    (1, b'{') => self.place = Place::Key,
                    (2, _) => self.place = Place::Rest,
                    _ => {}
                }
            }
            b'}' | b']' => {
                self.end_number();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => {
                self.end_number();
                self.place = Place::Key;
            }
            b':' if self.depth == 1 => {
                self.place = if self.place == Place::Colon(true) { Place::Value } else { Place::Rest };
                self.token.clear();
            }
            b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9' if self.is_kept() && self.place == Place::Value => {
                self.keep(byte);
            }
            _ => {}
        }
    }

    fn inside(&mut self, byte: u8) {
        self.keep(byte);
        match byte {
            b'\\' => self.string = InString::Escaped,
            b'"' => {
                self.string = InString::No;
                if self.place == Place::Key {
                    self.place = Place::Colon(self.token == self.key);
                } else {
                    self.end_value();
                }
            }
            _ => {}
        }
    }

    fn is_kept(&self) -> bool {
        self.depth == 1 && matches!(self.place, Place::Key | Place::Value)
    }

    fn keep(&mut self, byte: u8) {
        if self.is_kept() && self.token.len() <= KEPT {
            self.token.push(byte);
        }
    }

    fn end_number(&mut self) {
        if self.depth == 1 && self.place == Place::Value && self.token.first().is_some_and(|first| *first != b'"') {
            self.end_value();
        }
    }

    fn end_value(&mut self) {
        self.place = Place::Rest;
        let token = std::mem::take(&mut self.token);
        let is_whole = token.len() <= KEPT && !token.iter().any(u8::is_ascii_control);
        self.found = String::from_utf8(token).ok().filter(|_| is_whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8], piece: usize) -> Option<String> {
        let mut finder = ScalarFinder::new("id");
        bytes.chunks(piece).for_each(|piece| finder.feed(piece));
        finder.found()
    }

    #[test]
    fn the_member_is_found_wherever_the_bytes_are_cut() {
        let deep = format!(r#"{{"params":{}{},"id":7}}"#, "[".repeat(500), "]".repeat(500));
        for (bytes, expected) in [
            (&br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..], Some("1")),
            (br#"{"params":{"id":5,"x":["id",{"id":6}]},"id":"a\"b"}"#, Some(r#""a\"b""#)),
            (br#"{ "id" : -12 , "method":"x"#, Some("-12")),
            (b"{\"id\":3,\"text\":\"\xff\xfe\",\"more", Some("3")),
            (b"{\"text\":\"\\\\\\\"id\\\":4\xff\",\"id\":9}", Some("9")),
            (br#"{"id":1,"id":2}"#, Some("2")),
            (deep.as_bytes(), Some("7")),
            (br#"{"x":"id","y":1}"#, None),
            (br#"{"id":null}"#, None),
            (br#"{"id":[1]}"#, None),
            (br#"{"id":{"id":1}}"#, None),
            (br#"[{"id":1}]"#, None),
            (b"{\"id\":\"\xff\"}", None),
            (b"{\"id\":\"a\x01\"}", None),
            (br#"{"id":1"#, None),
            (b"", None),
            (b"]]}}\"", None),
        ] {
            for piece in [1, 2, 3, 7, 10_000] {
                let shown = String::from_utf8_lossy(bytes);
                assert_eq!(found(bytes, piece).as_deref(), expected, "{shown} in pieces of {piece}");
            }
        }
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(KEPT));
        assert_eq!(found(long.as_bytes(), 64), None);
    }
}
