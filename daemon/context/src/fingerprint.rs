//! The identity of a message, independent of its position and of the way its JSON is written.

use std::fmt;
use std::str::FromStr;

use crate::handoff;
use crate::hash::Fnv;
use crate::message::Message;

/// The identity of a message: a hash of its role, its text, and its calls or the call that it answers. It
/// does not depend on its position, the way its JSON is written, or a handoff before its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

/// The error for a text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 16 lower-case hex digits")]
pub struct FingerprintError;

impl Fingerprint {
    /// Returns the fingerprint of a message.
    pub fn of(message: &Message) -> Self {
        let freed = handoff::without_handoff(message);
        let message = freed.as_ref().unwrap_or(message);
        let text = message.text();
        // For content of images alone, the raw JSON is hashed.
        let content =
            if text.is_empty() { message.content_span().map_or("", |span| message.slice(span)) } else { &text };
        let mut hash = Fnv::default();
        let mut part = |bytes: &str| {
            hash.write(&bytes.len().to_le_bytes());
            hash.write(bytes.as_bytes());
        };
        part(message.role().as_str());
        part(content);
        part(message.tool_call_id().unwrap_or_default());
        for call in message.tool_calls() {
            part(call.id.as_deref().unwrap_or_default());
            part(call.name.as_deref().unwrap_or_default());
            part(&message.arguments(call));
        }
        Self(hash.finish())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 16 || !text.bytes().all(is_hex) {
            return Err(FingerprintError);
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| FingerprintError)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::testing::{call_of, result, say};

    #[test]
    fn a_message_is_known_by_what_it_says_and_not_by_how_it_is_written() {
        let of = |raw: &str| Fingerprint::of(&Message::parse(raw).unwrap());
        let plain = of(r#"{"role":"user","content":"caf\u00e9"}"#);
        assert_eq!(plain, of(r#"{ "content": "café", "role": "user", "name": "x" }"#));
        let merged = handoff::merged(&handoff::with_frame("before"), &say("user", "café"));
        assert_eq!(plain, Fingerprint::of(&merged));
        for other in [say("assistant", "café"), say("user", "cafe"), say("user", "")] {
            assert_ne!(plain, Fingerprint::of(&other));
        }
        assert_ne!(Fingerprint::of(&result("1", "x")), Fingerprint::of(&result("2", "x")));
        let called = |id, arguments| Fingerprint::of(&call_of(id, "look", arguments));
        assert_ne!(called("1", "{}"), called("1", r#"{"a": 1}"#));
        let picture =
            |url: &str| of(&format!(r#"{{"role":"user","content":[{{"type":"image_url","image_url":"{url}"}}]}}"#));
        assert_ne!(picture("a"), picture("b"));
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let one = Fingerprint::of(&say("user", "x"));
        assert_eq!(one.to_string().parse(), Ok(one));
        for wrong in ["", "123", "00000000000000zz", "ABCDEF0123456789", "+123456789abcdef"] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(FingerprintError), "{wrong}");
        }
    }
}
