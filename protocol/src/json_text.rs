//! JSON values that travel as they are.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits;

/// One JSON value as text, kept byte for byte: key order, escapes and numbers
/// stay as the sender wrote them.
///
/// Invariant: it holds exactly one valid JSON value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes `text` if it is one JSON value that nests at most
    /// [`limits::DEPTH`] deep.
    ///
    /// # Errors
    /// Says where the text stops being JSON, or that it nests too deep.
    pub fn parse(text: String) -> Result<Self, JsonTextError> {
        check_depth(text.as_bytes())?;
        RawValue::from_string(text).map(Self).map_err(|error| JsonTextError::Syntax(error.to_string()))
    }

    /// Takes any serialisable value.
    ///
    /// # Errors
    /// A value that has no JSON form, such as a map with keys that aren't text.
    pub fn from_value(value: &impl Serialize) -> Result<Self, JsonTextError> {
        serde_json::value::to_raw_value(value).map(Self).map_err(|error| JsonTextError::Syntax(error.to_string()))
    }

    /// Refuses a value that nests deeper than [`limits::DEPTH`].
    pub(crate) fn check_depth(&self) -> Result<(), JsonTextError> {
        check_depth(self.get().as_bytes())
    }

    /// The text, exactly as it was sent.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The text, given away.
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
    /// Not one JSON value; the parser's own words, with line and column.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// Nests deeper than [`limits::DEPTH`].
    #[error("nests deeper than {} levels (byte {at})", limits::DEPTH)]
    Depth {
        /// Offset in bytes of the bracket that is one too many.
        at: usize,
    },
}

/// Refuses a JSON text that nests deeper than [`limits::DEPTH`]; everything
/// else about it is left to the parser.
///
/// # Errors
/// [`JsonTextError::Depth`] with the place of the first bracket too many.
pub fn check_depth(text: &[u8]) -> Result<(), JsonTextError> {
    // Most texts have not as many brackets at all, and counting them is quick.
    if brackets(text) <= limits::DEPTH { Ok(()) } else { walk_depth(text) }
}

/// How many brackets a text opens, in strings too.
fn brackets(text: &[u8]) -> usize {
    // Sums of bytes, for a processor adds many of them at one time.
    let opening = |byte: &u8| u8::from(matches!(byte, b'{' | b'['));
    text.chunks(usize::from(u8::MAX)).map(|part| usize::from(part.iter().map(opening).sum::<u8>())).sum()
}

fn walk_depth(text: &[u8]) -> Result<(), JsonTextError> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > limits::DEPTH {
                    return Err(JsonTextError::Depth { at });
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = closing_quote(text, at),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Where the string ends that begins at `quote`, or the text if it never does.
fn closing_quote(text: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if text.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    text.len()
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
