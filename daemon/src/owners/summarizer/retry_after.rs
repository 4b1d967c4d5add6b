//! The header `Retry-After` (RFC 9110, 10.2.3).

use jiff::Timestamp;

/// The longest wait that is accepted, in seconds: a day.
const CEILING: f64 = 86_400.0;

/// Returns seconds from `now`, from 0 to a day; `None` if the text is neither seconds nor a date.
pub(super) fn seconds(text: &str, now: Timestamp) -> Option<f64> {
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => seconds,
        Ok(_) => return None,
        Err(_) => jiff::fmt::rfc2822::parse(text).ok()?.timestamp().duration_since(now).as_secs_f64(),
    };
    Some(seconds.clamp(0.0, CEILING))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn it_is_seconds_or_a_date() {
        let now: Timestamp = "1994-11-06T08:49:37Z".parse().unwrap();
        for (text, expected) in [
            ("120", Some(120.0)),
            (" 1.5 ", Some(1.5)),
            ("-3", Some(0.0)),
            ("1e300", Some(CEILING)),
            ("inf", None),
            ("NaN", None),
            ("soon", None),
            ("", None),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30.0)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0.0)),
        ] {
            assert_eq!(seconds(text, now), expected, "{text}");
        }
    }
}
