//! What is kept of messages that were read from the files of other programs: nothing that a person marked as private,
//! and no secrets if the configuration masks them.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use herma_guard::{
    CodeFile, MaskStyle, NamedValues, RedactOptions, SecretCounts, SecretKind, is_mask, is_named_secret, mask,
    private_parts, redact, redact_each, without_private,
};

use super::Redaction;
use super::message::TextChange;
use crate::message::Message;

/// How often a scrub repeats a change at most.
const REPEATS: usize = 4;

/// What is kept loses also what is only likely to be a secret.
const THOROUGH: RedactOptions =
    RedactOptions { code: CodeFile::No, shown: MaskStyle::EndsOnce, names: NamedValues::Any };

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
        let kept = counting.whole(&Message::of_json(message.clone()));
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

/// Removes what is never kept from texts that were kept before.
pub struct Scrub<'f> {
    texts: Counting,
    found: RefCell<&'f mut dyn FnMut(&str)>,
}

impl std::fmt::Debug for Scrub<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scrub").finish_non_exhaustive()
    }
}

impl<'f> Scrub<'f> {
    /// Creates a scrub that masks secrets and removes private parts. It calls `found` with each of them.
    pub fn new(found: &'f mut dyn FnMut(&str)) -> Self {
        let texts = Counting { capture: Capture { masks: true }, secrets: Cell::default() };
        Self { texts, found: RefCell::new(found) }
    }

    /// Returns a message (JSON text) without them; `None` if nothing changes.
    #[must_use]
    pub fn message(&self, message: &str) -> Option<String> {
        self.settled(message, |message| self.whole(&Message::of_json(message.to_owned())).raw().to_owned())
    }

    /// Returns a text, or each string of a JSON text, without them; `None` if nothing changes.
    #[must_use]
    pub fn text(&self, text: &str) -> Option<String> {
        self.settled(text, |text| self.arguments(text).unwrap_or_else(|| text.to_owned()))
    }

    /// Returns how many secrets were found of each kind.
    #[must_use]
    pub fn secrets(&self) -> SecretCounts {
        self.texts.secrets.get()
    }

    /// Repeats a change until a repetition changes nothing: what a mask leaves may look like another secret.
    fn settled(&self, text: &str, change: impl Fn(&str) -> String) -> Option<String> {
        let mut clean = change(text);
        for _ in 1..REPEATS {
            let again = change(&clean);
            if again == clean {
                break;
            }
            clean = again;
        }
        (clean != text).then_some(clean)
    }
}

impl TextChange for Scrub<'_> {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found = self.found.borrow_mut();
        private_parts(text).into_iter().for_each(|part| found(&text[part]));
        match self.texts.without_private(text) {
            Cow::Borrowed(text) => self.texts.masked(text, &mut **found),
            Cow::Owned(text) => self.texts.masked(&text, &mut **found).into_owned().into(),
        }
    }

    fn is_secret(&self, name: &str, value: &str) -> bool {
        self.texts.is_secret(name, value)
    }

    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let masked = self.texts.secret_value(text);
        if masked != text {
            (self.found.borrow_mut())(text);
        }
        masked
    }
}

/// A capture that counts the secrets.
struct Counting {
    capture: Capture,
    secrets: Cell<SecretCounts>,
}

impl Counting {
    fn masked<'t>(&self, text: &'t str, found: &mut dyn FnMut(&str)) -> Cow<'t, str> {
        let redacted = redact_each(text, THOROUGH, found);
        self.count(&redacted.kinds);
        redacted.text
    }

    fn without_private<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = without_private(text);
        if clean != text {
            self.count_of(SecretKind::Private, private_parts(text).len());
        }
        clean
    }

    fn count_of(&self, kind: SecretKind, count: usize) {
        let mut found = SecretCounts::default();
        found.add(kind, count);
        self.count(&found);
    }

    fn count(&self, found: &SecretCounts) {
        let mut secrets = self.secrets.get();
        secrets.add_all(found);
        self.secrets.set(secrets);
    }
}

impl TextChange for Counting {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match (self.without_private(text), self.capture.masks) {
            (kept, false) => kept,
            (Cow::Borrowed(text), true) => self.masked(text, &mut |_| {}),
            (Cow::Owned(text), true) => self.masked(&text, &mut |_| {}).into_owned().into(),
        }
    }

    fn is_secret(&self, name: &str, value: &str) -> bool {
        Redaction::On.is_secret(name, value) || is_named_secret(name, value)
    }

    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.capture.masks {
            return self.text(text);
        }
        if is_mask(text) {
            return text.into();
        }
        // A secret in it counts once, as the field.
        let known = redact(text, RedactOptions::default());
        let masked = mask(&known.text);
        if masked != text {
            self.count_of(SecretKind::Field, 1);
        }
        masked.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{call_of, message, say};

    const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ";

    const RANDOM: &str = "q7Zk02LmX9pRb4Ns81W8vT";

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
        assert_eq!(
            (counts.messages, counts.secrets.iter().collect::<Vec<_>>()),
            (1, vec![(SecretKind::Key, 1), (SecretKind::Private, 1)])
        );
    }

    #[test]
    fn arguments_of_calls_are_kept_like_texts() {
        let arguments = format!(
            r#"{{"text": "<private>a</private> {KEY}", "password": "open", "env": {{"DATADOG_TOKEN": "{RANDOM}"}}, "n": 1}}"#
        );
        let (masked, counts) = kept(&call_of("a", "note", &arguments), true);
        let call = &masked.tool_calls()[0];
        let expected = r#"{"text": "[private] ghp_01...GHIJ", "password": "***", "env": {"DATADOG_TOKEN": "q7Zk02...W8vT"}, "n": 1}"#;
        assert_eq!(masked.arguments(call), expected);
        let secrets: Vec<_> = counts.secrets.iter().collect();
        assert_eq!(
            (counts.messages, secrets),
            (1, vec![(SecretKind::Key, 1), (SecretKind::Field, 2), (SecretKind::Private, 1)])
        );
    }

    #[test]
    fn every_text_of_a_message_is_changed_in_its_place() {
        let png = "iVBORw0KGgo/".repeat(60);
        let of = |secret: &str, private: &str, api_key: &str| {
            json!({
                "role": "tool",
                "tool_call_id": "call_1",
                "reasoning_content": format!("the key is {secret}"),
                "_anthropic_content_blocks": [{ "type": "thinking", "thinking": secret, "signature": png }],
                "provider_items": [{ "encrypted_content": png, "api_key": api_key }],
                "content": [
                    { "type": "text", "text": format!("a {secret}") },
                    { "type": "tool_result", "tool_use_id": "toolu_1", "content": [{ "type": "text", "text": secret }] },
                    { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{png}") } },
                    { "type": "tool_result", "tool_use_id": "toolu_2", "content": private },
                ],
            })
        };
        let object = |secret: &str| json!({ "role": "tool", "content": { "_multimodal": true, "text_summary": secret, "content": [{ "text": secret }] } });
        let mask = "ghp_01...GHIJ";
        for (said, expected) in [
            (of(KEY, "<private>x</private>", &png), of(mask, "[private]", "iVBORw...Ggo/")),
            (object(KEY), object(mask)),
            (
                json!({ "role": "user", "content": { KEY: [KEY] } }),
                json!({ "role": "user", "content": { mask: [mask] } }),
            ),
            (json!(KEY), json!(mask)),
        ] {
            let (masked, _) = kept(&message(&said), true);
            assert_eq!(serde_json::from_str::<serde_json::Value>(masked.raw()).unwrap(), expected);
        }
        // A private part may begin in one part and end in another.
        let parts = ["a <private>b", "c</private> d"].map(|text| json!({ "type": "text", "text": text }));
        let (masked, _) = kept(&message(&json!({ "role": "user", "content": parts })), false);
        assert_eq!(masked.text(), "a [private] d");
    }

    #[test]
    fn a_message_without_either_stays_byte_for_byte() {
        let said = say("user", "a calm <b>note</b>");
        let (same, counts) = kept(&said, true);
        assert_eq!((same.raw(), counts), (said.raw(), CaptureCounts::default()));
    }

    #[test]
    fn a_scrub_leaves_nothing_for_the_next_and_tells_what_it_found() {
        let said = say("user", &format!("take {KEY}, <private>a</private>, MY_TOKEN={KEY}"));
        let state = format!(r#"{{"goal": "use {KEY}", "password": "open sesame", "n": [1.0]}}"#);
        let mut found = Vec::new();
        let mut find = |secret: &str| found.push(secret.to_owned());
        let scrub = Scrub::new(&mut find);
        let (message, text) = (scrub.message(said.raw()).unwrap(), scrub.text(&state).unwrap());
        assert_eq!((scrub.message(&message), scrub.text(&text)), (None, None));
        assert_eq!(text, r#"{"goal": "use ghp_01...GHIJ", "password": "***", "n": [1.0]}"#);
        assert!(!message.contains(KEY) && scrub.secrets().iter().count() > 0, "{message}");
        assert!(
            ["<private>a</private>", KEY, "open sesame"].iter().all(|secret| found.iter().any(|one| one == secret))
        );
    }
}
