//! Messages that a compression must leave in the list.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use crate::handoff;
use crate::hash::Fnv;
use crate::message::Message;
use crate::pairs;
use crate::parallel::FEW_MESSAGES;

/// What a message is known by, wherever it stands: its role, its text, and its calls or the call that it answers.
/// How its JSON is written does not count, nor a handoff in front of its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

/// A text that is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 16 lower-case hex digits")]
pub struct FingerprintError;

/// The fingerprints of a session's pinned messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(Vec<Fingerprint>);

impl Fingerprint {
    /// Of a message.
    pub fn of(message: &Message) -> Self {
        let freed = handoff::without_handoff(message);
        let message = freed.as_ref().unwrap_or(message);
        let text = message.text();
        // Of pictures alone the content counts as it is written.
        let content = match text.is_empty() {
            true => message.content_span().map_or("", |span| message.slice(span)),
            false => &text,
        };
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

impl Pins {
    /// Whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a message is pinned.
    pub fn has(&self, message: &Message) -> bool {
        !self.is_empty() && self.has_fingerprint(Fingerprint::of(message))
    }

    /// Positions of the pinned messages of a list, in order: of equal ones the newest, and calls with all their results.
    pub fn positions(&self, messages: &[Message]) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
        let found =
            all.map(|(at, message)| (Fingerprint::of(message), at)).filter(|(one, _)| self.has_fingerprint(*one));
        let mut found: Vec<(Fingerprint, usize)> = found.collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.dedup_by_key(|(fingerprint, _)| *fingerprint);
        let mut pinned: Vec<usize> = found.into_iter().map(|(_, at)| at).collect();
        if pinned.is_empty() {
            return pinned;
        }
        let callers: Vec<Option<usize>> =
            pairs::callers(messages).into_iter().map(|caller| caller.map(|(at, _)| at)).collect();
        let calls: Vec<usize> = pinned.iter().map(|&at| callers.get(at).copied().flatten().unwrap_or(at)).collect();
        let results = callers.iter().enumerate().filter(|(_, caller)| caller.is_some_and(|at| calls.contains(&at)));
        pinned.extend(results.map(|(at, _)| at).chain(calls.iter().copied()));
        pinned.sort_unstable();
        pinned.dedup();
        pinned
    }

    pub(crate) fn has_fingerprint(&self, fingerprint: Fingerprint) -> bool {
        self.0.binary_search(&fingerprint).is_ok()
    }
}

impl FromIterator<Fingerprint> for Pins {
    fn from_iter<All: IntoIterator<Item = Fingerprint>>(all: All) -> Self {
        let mut all: Vec<Fingerprint> = all.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
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
