//! JSON values kept as the sender wrote them.

use herma_json::TooDeep;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits;

/// One JSON value as text, kept byte for byte. Key order, escapes and numbers stay as the sender wrote them.
///
/// Invariant: it holds exactly one valid JSON value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Creates a value from `text`, which must be one JSON value that nests at most [`limits::DEPTH`] deep.
    ///
    /// # Errors
    /// The offset at which the text stops being JSON, or that it nests too deep.
    pub fn parse(text: String) -> Result<Self, JsonTextError> {
        check_depth(text.as_bytes())?;
        RawValue::from_string(text).map(Self).map_err(|error| JsonTextError::Syntax(error.to_string()))
    }

    /// Creates a value from any serializable one.
    ///
    /// # Errors
    /// A value that can't be written as JSON, such as a map with keys that are not strings.
    pub fn from_value(value: &impl Serialize) -> Result<Self, JsonTextError> {
        serde_json::value::to_raw_value(value).map(Self).map_err(|error| JsonTextError::Syntax(error.to_string()))
    }

    /// Refuses a value that nests deeper than [`limits::DEPTH`].
    pub(crate) fn check_depth(&self) -> Result<(), JsonTextError> {
        check_depth(self.get().as_bytes())
    }

    /// Returns the text, exactly as it was sent.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Returns the text without a copy.
    #[must_use]
    pub fn into_text(self) -> String {
        Box::<str>::from(self.0).into_string()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

/// Why a text is not a [`Json`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonTextError {
    /// It is not one JSON value. Contains the parser's message with line and column.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// It nests deeper than [`limits::DEPTH`].
    #[error("nests deeper than {} levels (byte {at})", limits::DEPTH)]
    Depth {
        /// Offset in bytes of the first bracket beyond the limit.
        at: usize,
    },
}

/// Refuses a JSON text that nests deeper than [`limits::DEPTH`]. The parser checks everything else.
///
/// # Errors
/// [`JsonTextError::Depth`] with the offset of the first bracket beyond the limit.
pub fn check_depth(text: &[u8]) -> Result<(), JsonTextError> {
    herma_json::check_depth(text, limits::DEPTH).map_err(|TooDeep { at }| JsonTextError::Depth { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_byte_for_byte() {
        for text in [r#"{"b": 1.0,"a":"\u00e9"}"#, "1e400", " null", r#""\/""#] {
            let json = Json::parse(text.to_owned());
            assert_eq!(json.map(|json| json.get().to_owned()), Ok(text.trim().to_owned()));
        }
    }

    #[test]
    fn depth_is_limited_outside_of_strings_only() {
        let nest = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(Json::parse(nest(limits::DEPTH)).is_ok());
        assert_eq!(Json::parse(nest(limits::DEPTH + 1)), Err(JsonTextError::Depth { at: limits::DEPTH }));
        let deep = nest(limits::DEPTH + 1);
        for (text, is_ok) in [
            (format!("\"\\\"{}\"", "[".repeat(500)), true),
            (format!("[\"{}\\\\\",{}]", "{".repeat(500), nest(limits::DEPTH - 1)), true),
            (format!("[\"{}\\\\\",{}]", "{".repeat(500), nest(limits::DEPTH)), false),
            (format!("[{}]", vec![nest(2); 500].join(",")), true),
            (format!("[\"\\\"\",{deep}]"), false),
        ] {
            assert_eq!(Json::parse(text.clone()).is_ok(), is_ok, "{text}");
        }
        assert!(check_depth(format!("\"\\{deep}").as_bytes()).is_ok());
    }

    #[test]
    fn more_than_one_value_is_refused() {
        assert!(matches!(Json::parse("1 2".into()), Err(JsonTextError::Syntax(_))));
    }
}
