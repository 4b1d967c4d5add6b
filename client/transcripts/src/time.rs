//! Times in the formats that programs write.

use jiff::Timestamp;
use serde_json::Value;

/// The latest accepted time in Unix seconds: the end of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// Reads a time as Unix seconds, from an RFC 3339 text or a number of seconds or milliseconds.
pub(crate) fn read(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse::<Timestamp>().ok().map(|time| time.as_duration().as_secs_f64()),
        Value::Number(number) => number.as_f64().map(|time| if time > LATEST { time / 1000.0 } else { time }),
        _ => None,
    }
    .filter(|time| (0.0..=LATEST).contains(time))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_where_they_are_some() {
        for (value, expect) in [
            (json!("2026-02-03T04:05:06.500Z"), Some(1_770_091_506.5)),
            (json!("2026-02-03T05:05:06+01:00"), Some(1_770_091_506.0)),
            (json!(1_770_091_506.25), Some(1_770_091_506.25)),
            (json!(1_770_091_506_250_u64), Some(1_770_091_506.25)),
            (json!("yesterday"), None),
            (json!(-5), None),
            (json!(1e300), None),
            (json!(null), None),
        ] {
            assert_eq!(read(&value), expect, "{value}");
        }
    }
}
