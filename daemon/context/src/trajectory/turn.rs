//! One turn of a trajectory, its text kept byte for byte.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The speaker of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum From {
    /// The instructions.
    System,
    /// The user.
    Human,
    /// The model.
    Gpt,
    /// The responses to the calls of the turn before.
    Tool,
    /// Another role, or none.
    Other,
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    raw: String,
    from: From,
    name: String,
    value: String,
}

/// The error for a JSON text that is not a turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The text is not an object.
    #[error("a turn must be an object with `from` and `value`")]
    NoObject,
}

impl Turn {
    /// Reads a turn. A missing or null value counts as empty; a value that is not a string counts as its JSON
    /// text.
    ///
    /// # Errors
    /// Returns an error if the text is not a JSON object.
    pub fn parse(raw: String) -> Result<Self, TurnError> {
        let members = members(&raw).ok_or(TurnError::NoObject)?;
        let member = |wanted: &str| members.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.get());
        let name = member("from").and_then(|text| serde_json::from_str::<String>(text).ok()).unwrap_or_default();
        let value = match member("value") {
            None | Some("null") => String::new(),
            Some(text) => serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned()),
        };
        let from = match name.as_str() {
            "system" => From::System,
            "human" => From::Human,
            "gpt" => From::Gpt,
            "tool" => From::Tool,
            _ => From::Other,
        };
        Ok(Self { raw, from, name, value })
    }

    /// Returns a turn of the user.
    pub fn human(value: &str) -> Self {
        let raw = format!("{{\"from\":\"human\",\"value\":{}}}", quoted(value));
        Self { raw, from: From::Human, name: "human".to_owned(), value: value.to_owned() }
    }

    /// Returns the turn with another value; its other members stay as they are.
    #[must_use]
    pub fn with_value(&self, value: String) -> Self {
        let members = members(&self.raw).unwrap_or_default();
        let is_there = members.iter().any(|(name, _)| name == "value");
        let mut parts: Vec<String> = members
            .iter()
            .map(|(name, old)| match name.as_str() {
                "value" => format!("\"value\":{}", quoted(&value)),
                name => format!("{}:{}", quoted(name), old.get()),
            })
            .collect();
        if !is_there {
            parts.push(format!("\"value\":{}", quoted(&value)));
        }
        Self { raw: format!("{{{}}}", parts.join(",")), value, ..self.clone() }
    }

    /// Returns its JSON text.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns its JSON text, consuming the turn.
    pub fn into_raw(self) -> String {
        self.raw
    }

    /// Returns the speaker.
    pub const fn from(&self) -> From {
        self.from
    }

    /// Returns the speaker as written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text.
    pub fn value(&self) -> &str {
        &self.value
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the members of an object in their order; `None` if the text is not an object.
fn members(raw: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(name) = map.next_key::<String>()? {
                members.push((name, map.next_value::<&RawValue>()?));
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(raw);
    let members = (&mut json).deserialize_map(Members).ok()?;
    json.end().ok().map(|()| members)
}
