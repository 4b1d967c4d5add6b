//! What is kept of messages that were read from the files of other programs: nothing that a person marked as private,
//! and no secrets if the configuration masks them.

use std::borrow::Cow;
use std::cell::Cell;

use herma_guard::{RedactOptions, SecretCounts, SecretKind, mask, redact, without_private};

use super::message::TextChange;
use crate::message::Message;

/// Changes messages and texts for keeping them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Whether secrets are masked.
    pub masks: bool,
}

/// How much was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureCounts {
    /// The messages that were changed.
    pub messages: usize,
    /// The secrets that were masked.
    pub secrets: SecretCounts,
}

impl CaptureCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.secrets.add_all(&other.secrets);
    }
}

impl Capture {
    /// Returns a message (JSON text) as it is kept, and counts what was left out.
    #[must_use]
    pub fn message(self, message: String, counts: &mut CaptureCounts) -> String {
        let counting = Counting { capture: self, secrets: Cell::default() };
        let kept = counting.message(&Message::of_json(message.clone()));
        if kept.raw() == message {
            return message;
        }
        counts.messages = counts.messages.saturating_add(1);
        counts.secrets.add_all(&counting.secrets.get());
        kept.raw().to_owned()
    }

    /// Returns a text as it is kept.
    #[must_use]
    pub fn text(self, text: &str) -> Cow<'_, str> {
        self.counted(text, &mut CaptureCounts::default())
    }

    /// Returns a text as it is kept, and counts what was left out.
    #[must_use]
    pub fn counted<'t>(self, text: &'t str, counts: &mut CaptureCounts) -> Cow<'t, str> {
        let counting = Counting { capture: self, secrets: Cell::default() };
        let kept = counting.text(text);
        counts.messages = counts.messages.saturating_add(usize::from(kept != text));
        counts.secrets.add_all(&counting.secrets.get());
        kept
    }
}

/// A capture that counts the secrets.
struct Counting {
    capture: Capture,
    secrets: Cell<SecretCounts>,
}

impl Counting {
    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let redacted = redact(text, RedactOptions::default());
        self.count(&redacted.kinds);
        redacted.text
    }

    fn count(&self, found: &SecretCounts) {
        let mut secrets = self.secrets.get();
        secrets.add_all(found);
        self.secrets.set(secrets);
    }
}

impl TextChange for Counting {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match (without_private(text), self.capture.masks) {
            (kept, false) => kept,
            (Cow::Borrowed(text), true) => self.masked(text),
            (Cow::Owned(text), true) => self.masked(&text).into_owned().into(),
        }
    }

    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.capture.masks {
            return self.text(text);
        }
        // A secret in it counts once, as the field.
        let known = redact(text, RedactOptions::default());
        let masked = mask(&known.text);
        if masked != text {
            let mut found = SecretCounts::default();
            found.add(SecretKind::Field, 1);
            self.count(&found);
        }
        masked.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call_of, say};

    const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ";

    fn kept(message: &Message, masks: bool) -> (Message, CaptureCounts) {
        let mut counts = CaptureCounts::default();
        let kept = Capture { masks }.message(message.raw().to_owned(), &mut counts);
        (Message::of_json(kept), counts)
    }

    #[test]
    fn private_parts_are_never_kept_and_secrets_only_if_so_configured() {
        let said = say("user", &format!("take {KEY}, <private>and {KEY} too</private>."));
        assert_eq!(kept(&said, false).0.text(), format!("take {KEY}, [private]."));
        let (masked, counts) = kept(&said, true);
        assert_eq!(masked.text(), "take ghp_01...GHIJ, [private].");
        assert_eq!((counts.messages, counts.secrets.iter().collect::<Vec<_>>()), (1, vec![(SecretKind::Key, 1)]));
    }

    #[test]
    fn arguments_of_calls_are_kept_like_texts() {
        let arguments = format!(r#"{{"text": "<private>a</private> {KEY}", "password": "open", "n": 1}}"#);
        let (masked, counts) = kept(&call_of("a", "note", &arguments), true);
        let call = &masked.tool_calls()[0];
        let expected = r#"{"text": "[private] ghp_01...GHIJ", "password": "***", "n": 1}"#;
        assert_eq!(masked.arguments(call), expected);
        let secrets: Vec<_> = counts.secrets.iter().collect();
        assert_eq!((counts.messages, secrets), (1, vec![(SecretKind::Key, 1), (SecretKind::Field, 1)]));
    }

    #[test]
    fn a_message_without_either_stays_byte_for_byte() {
        let said = say("user", "a calm <b>note</b>");
        let (same, counts) = kept(&said, true);
        assert_eq!((same.raw(), counts), (said.raw(), CaptureCounts::default()));
    }
}
