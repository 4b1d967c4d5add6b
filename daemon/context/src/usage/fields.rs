//! The fields of a usage object. An invalid value counts as 0.

use serde_json::{Map, Value};

use super::MAX_TOKENS;

/// One JSON object; a field that is null counts as absent.
pub(super) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Returns the fields of an object; `None` for any other value.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    /// Whether at least one of the fields is present.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.get(*name).is_some_and(|value| !value.is_null()))
    }

    /// Returns the object of that name.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.0.get(name).and_then(Value::as_object).map(Self)
    }

    /// Returns the first count of those names that is above 0; 0 if none is.
    pub(super) fn count(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self.0.get(*name).map_or(0, whole)).find(|&count| count > 0).unwrap_or(0)
    }

    /// Does the same as `count` within the object `details`.
    pub(super) fn count_in(&self, details: &str, names: &[&str]) -> u64 {
        self.object(details).map_or(0, |inner| inner.count(names))
    }
}

/// Returns a whole number above 0, at most [`MAX_TOKENS`]; 0 for anything else.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole float below 0 becomes 0, and one too large the largest"
)]
fn whole(value: &Value) -> u64 {
    let exact = value.as_u64();
    let float = value.as_f64().filter(|number| number.fract() == 0.0);
    exact.or(float.map(|number| number as u64)).unwrap_or(0).min(MAX_TOKENS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_above_zero_count() {
        for (text, expect) in [
            ("12", 12),
            ("12.0", 12),
            ("1.2e3", 1_200),
            ("0", 0),
            ("-0.0", 0),
            ("-5", 0),
            ("-5.0", 0),
            ("12.5", 0),
            ("0.9", 0),
            ("1e-300", 0),
            ("null", 0),
            ("true", 0),
            ("\"12\"", 0),
            ("\"NaN\"", 0),
            ("\"Infinity\"", 0),
            ("[12]", 0),
            ("{\"value\": 12}", 0),
            ("9007199254740991", MAX_TOKENS),
            ("9007199254740992", MAX_TOKENS),
            ("18446744073709551615", MAX_TOKENS),
            ("18446744073709551616", MAX_TOKENS),
            ("1e300", MAX_TOKENS),
            ("-9223372036854775808", 0),
            ("-1e300", 0),
        ] {
            assert_eq!(whole(&serde_json::from_str(text).unwrap()), expect, "{text}");
        }
    }
}
