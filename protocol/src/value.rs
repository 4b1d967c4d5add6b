//! Small values that have more than one JSON form.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use serde_json::value::RawValue;

use crate::Json;
use crate::attached::{self, Attach, Attachment};

/// A size in chars, or no limit: an integer or the string `"inf"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A number of chars.
    Chars(u64),
    /// No limit.
    Infinite,
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Chars(chars) => serializer.serialize_u64(*chars),
            Self::Infinite => serializer.serialize_str("inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of chars or \"inf\"")
            }

            fn visit_u64<E: de::Error>(self, chars: u64) -> Result<Size, E> {
                Ok(Size::Chars(chars))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                match text {
                    "inf" => Ok(Size::Infinite),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

/// A text, or `false` to turn off the default of an absent param.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextOrOff {
    /// This text.
    Text(String),
    /// The default is turned off.
    Off,
}

impl Serialize for TextOrOff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Off => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for TextOrOff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = TextOrOff;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or false")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<TextOrOff, E> {
                if on { Err(E::invalid_value(de::Unexpected::Bool(on), &self)) } else { Ok(TextOrOff::Off) }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<TextOrOff, E> {
                Ok(TextOrOff::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A number of tokens, or `true` for the configured one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokensOrConfigured {
    /// A number of tokens, at least 1.
    Tokens(u64),
    /// The configured number.
    Configured,
}

impl Serialize for TokensOrConfigured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tokens(tokens) => serializer.serialize_u64(*tokens),
            Self::Configured => serializer.serialize_bool(true),
        }
    }
}

impl<'de> Deserialize<'de> for TokensOrConfigured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TokensVisitor;
        impl Visitor<'_> for TokensVisitor {
            type Value = TokensOrConfigured;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of tokens from 1, or true")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<TokensOrConfigured, E> {
                if on {
                    Ok(TokensOrConfigured::Configured)
                } else {
                    Err(E::invalid_value(de::Unexpected::Bool(on), &self))
                }
            }

            fn visit_u64<E: de::Error>(self, tokens: u64) -> Result<TokensOrConfigured, E> {
                if tokens == 0 {
                    Err(E::invalid_value(de::Unexpected::Unsigned(0), &self))
                } else {
                    Ok(TokensOrConfigured::Tokens(tokens))
                }
            }
        }
        deserializer.deserialize_any(TokensVisitor)
    }
}

/// The content of a tool result: a string, or a list of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A list of parts, each exactly as the agent has it.
    Parts(Vec<Json>),
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => attached::write_text(text, serializer),
            Self::Parts(parts) => parts.write(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    /// Requires a JSON text as input, like all params, so that a text of many megabytes is copied only once.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'"') => herma_json::unescape(raw).map(Self::Text).map_err(de::Error::custom),
            Some(b'[') => serde_json::from_str(raw).map(Self::Parts).map_err(de::Error::custom),
            Some(b'n') => Ok(Self::Text(String::new())),
            Some(b'0'..=b'9') if attached::is_reading() => {
                let number = raw.parse().map_err(|_| de::Error::custom("invalid number of an attachment"))?;
                match attached::take(number).map_err(de::Error::custom)? {
                    Attachment::Text(text) => Ok(Self::Text(text)),
                    Attachment::List(parts) => Ok(Self::Parts(parts)),
                }
            }
            _ => Err(de::Error::custom("invalid type: expected a string or a list of parts")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_comes_back() {
        for (json, value) in [(r#""plain""#, Content::Text("plain".into())), ("[]", Content::Parts(vec![]))] {
            assert_eq!(serde_json::from_str::<Content>(json).ok(), Some(value.clone()));
            assert_eq!(serde_json::to_string(&value).ok().as_deref(), Some(json));
        }
        let parts = r#"[{"type":"text","text":"a"},"bare"]"#;
        let content = serde_json::from_str::<Content>(parts).ok();
        assert_eq!(content.and_then(|content| serde_json::to_string(&content).ok()).as_deref(), Some(parts));
    }

    #[test]
    fn infinity_is_one_word_only() {
        assert_eq!(serde_json::from_str::<Size>("\"inf\"").ok(), Some(Size::Infinite));
        assert_eq!(serde_json::from_str::<Size>("0").ok(), Some(Size::Chars(0)));
        for wrong in ["\"infinity\"", "-1", "1.5", "null", "true"] {
            assert!(serde_json::from_str::<Size>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_number_of_tokens_is_one_or_the_configured_one() {
        for (json, value) in [("true", TokensOrConfigured::Configured), ("1", TokensOrConfigured::Tokens(1))] {
            assert_eq!(serde_json::from_str::<TokensOrConfigured>(json).ok(), Some(value));
            assert_eq!(serde_json::to_string(&value).ok().as_deref(), Some(json));
        }
        for wrong in ["0", "-1", "1.5", "false", "\"12000\"", "null"] {
            assert!(serde_json::from_str::<TokensOrConfigured>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_false_switches_off() {
        assert_eq!(serde_json::from_str::<TextOrOff>("false").ok(), Some(TextOrOff::Off));
        assert!(serde_json::from_str::<TextOrOff>("true").is_err());
    }
}
