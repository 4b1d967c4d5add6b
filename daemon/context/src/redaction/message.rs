//! Changes the texts of a message before other code splits it: a secret is recognised by the text around
//! it, and a part of a secret is not recognised at all.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::Redaction;
use crate::json::{self, Span, Splice};
use crate::message::{Content, Message};

/// A header with a secret, as a field of JSON.
const HEADER: &str = "authorization";

impl Redaction {
    /// Returns the message with the secrets of its text and its calls' arguments masked or removed. Without
    /// secrets it returns the same message. Other fields stay as they are.
    pub(crate) fn message(self, message: &Message) -> Message {
        if self == Self::Off { message.clone() } else { TextChange::message(&self, message) }
    }
}

/// A change of texts, such as masking their secrets.
pub(crate) trait TextChange {
    /// Changes a text.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// Changes the value of a field that is secret by its name.
    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// Changes the text of a message and the arguments of its calls. Returns the same message if nothing changes.
    fn message(&self, message: &Message) -> Message {
        let splices: Vec<Splice> = message
            .tool_calls()
            .iter()
            .filter_map(|call| Some((call.arguments?, self.arguments(&message.arguments(call))?)))
            .map(|(span, text)| {
                if json::is_string(message.slice(span)) {
                    Splice { span, text: json::encode(&text) }
                } else {
                    Splice { span, text }
                }
            })
            .collect();
        let message = if splices.is_empty() { message.clone() } else { message.spliced(&splices) };
        match self.content(&message) {
            None => message,
            Some(clean) if message.bare_text().is_some() => Message::of_json(json::encode(&clean)),
            Some(clean) => message.with_text(&clean),
        }
    }

    /// Returns the text of a message, each part changed first by itself; `None` if nothing changes.
    fn content(&self, message: &Message) -> Option<String> {
        let text = message.text();
        let clean = match message.content() {
            Content::List(parts) => {
                let texts = parts.iter().filter_map(|part| part.text(message.raw()));
                let texts: Vec<String> = texts.map(|text| self.text(&text).into_owned()).collect();
                self.text(&texts.join("\n")).into_owned()
            }
            _ => match self.text(&text) {
                Cow::Borrowed(_) => return None,
                Cow::Owned(clean) => clean,
            },
        };
        (clean != text).then_some(clean)
    }

    /// Returns the arguments of a call, still JSON if they were; `None` if nothing changes.
    fn arguments(&self, arguments: &str) -> Option<String> {
        if serde_json::from_str::<IgnoredAny>(arguments).is_err() {
            let clean = self.text(arguments);
            return (clean != arguments).then(|| clean.into_owned());
        }
        let bytes = arguments.as_bytes();
        let mut splices = Vec::new();
        let (mut at, mut is_secret) = (0, false);
        while let Some(quote) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            let start = at + quote;
            at = json::string_end(bytes, start);
            let span = Span { start, end: at };
            let text = json::decode(span.slice(arguments));
            let is_key = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            let is_secret_value = is_secret && !is_key && !text.is_empty();
            let clean = if is_secret_value { self.secret_value(&text) } else { self.text(&text) };
            if clean != text {
                splices.push(Splice { span, text: json::encode(&clean) });
            }
            if is_key {
                is_secret = herma_guard::is_secret_field(&text) || text.eq_ignore_ascii_case(HEADER);
            }
        }
        (!splices.is_empty()).then(|| json::splice(arguments, &splices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call_of, message, say};

    #[test]
    fn a_message_without_secrets_is_the_very_same() {
        let plain = say("user", "Please look at /srv/x, and call ghp_ nothing.");
        assert!(Redaction::Full.message(&plain).same(&plain));
        let called = call_of("a", "terminal", r#"{"command":  "ls", "n": 1.0}"#);
        assert!(Redaction::Full.message(&called).same(&called));
    }

    #[test]
    fn text_and_arguments_lose_their_secrets_and_keep_their_form() {
        let key = "ghp_0123456789abcdefghijABCDEFGHIJ";
        let said = say("user", &format!("take {key}, please"));
        assert_eq!(Redaction::Full.message(&said).text(), "take [REDACTED], please");
        assert_eq!(Redaction::On.message(&said).text(), "take ghp_01...GHIJ, please");
        assert!(Redaction::Off.message(&said).same(&said));
        let arguments = format!(
            r#"{{"command": "export A_TOKEN={key} && make","path":"/x", "n": 1.0, "headers": {{"Authorization":"Bearer {key}"}}, "password": "open"}}"#
        );
        let clean = Redaction::Full.message(&call_of("a", "terminal", &arguments));
        let call = &clean.tool_calls()[0];
        assert_eq!(
            clean.arguments(call),
            r#"{"command": "export A_TOKEN=[REDACTED] && make","path":"/x", "n": 1.0, "headers": {"Authorization":"[REDACTED]"}, "password": "[REDACTED]"}"#
        );
        let parts =
            serde_json::json!([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": key}]);
        let listed = Redaction::Full.message(&message(&serde_json::json!({"role": "user", "content": parts})));
        assert_eq!(listed.text(), "a\n[REDACTED]");
        assert!(listed.has_image());
        let bare = Redaction::Full.message(&message(&serde_json::json!(format!("take {key}"))));
        assert_eq!(bare.text(), "take [REDACTED]");
    }
}
