//! Changes the texts of a message before other code splits it: a secret is recognised by the text around
//! it, and a part of a secret is not recognised at all.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::Redaction;
use crate::json::{self, Span, Splice};
use crate::message::{Content, Message};

/// A header with a secret, as a field of JSON.
const HEADER: &str = "authorization";

/// The chars of base64 from which on it is a file. A known key that is as long has dots or line breaks.
const SHORTEST_BINARY: usize = 400;

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

    /// Returns whether the string in a field of JSON is a secret because of the field's name.
    fn is_secret(&self, name: &str, _value: &str) -> bool {
        herma_guard::is_secret_field(name) || name.eq_ignore_ascii_case(HEADER)
    }

    /// Changes the value of a field that is secret by its name.
    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// Changes the text of a message and the arguments of its calls. Returns the same message if nothing changes.
    fn message(&self, message: &Message) -> Message {
        let message = self.calls(message);
        match self.content(&message) {
            None => message,
            Some(clean) if message.bare_text().is_some() => Message::of_json(json::encode(&clean)),
            Some(clean) => message.with_text(&clean),
        }
    }

    /// Changes all texts of a message, each in its place: also thoughts, results and any other field. Only a secret that
    /// spans several parts of a content replaces them by one.
    fn whole(&self, message: &Message) -> Message {
        let message = self.calls(message);
        let changed: Vec<Span> = message.tool_calls().iter().filter_map(|call| call.arguments).collect();
        let message = self.strings(message.raw(), &changed).map_or(message, Message::of_json);
        let spanning = matches!(message.content(), Content::List(_)).then(|| self.content(&message)).flatten();
        spanning.map_or(message.clone(), |clean| message.with_text(&clean))
    }

    /// Changes the arguments of a message's calls.
    fn calls(&self, message: &Message) -> Message {
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
        if splices.is_empty() { message.clone() } else { message.spliced(&splices) }
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
        self.strings(arguments, &[])
    }

    /// Returns a JSON text with changed strings, but those in `changed` and those that are no text; `None` if nothing
    /// changes.
    fn strings(&self, text: &str, changed: &[Span]) -> Option<String> {
        let bytes = text.as_bytes();
        let mut splices = Vec::new();
        let (mut at, mut name) = (0, None::<Cow<'_, str>>);
        while let Some(quote) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            let start = at + quote;
            at = json::string_end(bytes, start);
            let span = Span { start, end: at };
            if changed.iter().any(|changed| changed.start <= start && start < changed.end) {
                continue;
            }
            let string = json::decode(span.slice(text));
            let is_key = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            let is_secret = name.as_deref().is_some_and(|name| self.is_secret(name, &string));
            let clean = match string.as_ref() {
                string if is_secret && !is_key && !string.is_empty() => self.secret_value(string),
                string if is_binary(string) => string.into(),
                string => self.text(string),
            };
            if clean != string {
                splices.push(Splice { span, text: json::encode(&clean) });
            }
            if is_key {
                name = Some(string);
            }
        }
        (!splices.is_empty()).then(|| json::splice(text, &splices))
    }
}

/// Whether a string is an encoded picture, signature or other file. A change of a part would break it.
fn is_binary(string: &str) -> bool {
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let code = string.strip_prefix("data:").and_then(|url| Some(url.split_once(";base64,")?.1)).unwrap_or(string);
    code.len() >= SHORTEST_BINARY && code.bytes().all(is_code)
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
