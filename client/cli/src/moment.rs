//! Parses times as people write them: a time span before now, a day by its date or its name, or Unix seconds.

mod words;

use jiff::Zoned;
use jiff::civil::Date;

/// The smallest number that counts as Unix seconds. A smaller one would be before 1973; the user probably forgot a unit
/// or a dash.
const EARLIEST: f64 = 100_000_000.0;

/// The units of a span, in seconds.
const UNITS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400), ('w', 604_800)];

/// Examples of the accepted forms.
const FORMS: &str = "7d, 12h, 30m, 2026-11-20, yesterday, 'last tuesday', '3 weeks ago', 'march 2026' or Unix seconds";

/// Parses a time. Returns it in Unix seconds.
pub(crate) fn parse(text: &str) -> Result<f64, String> {
    parse_at(text, &Zoned::now())
}

/// Parses a span from now on, like 30m. Returns its end in Unix seconds.
pub(crate) fn coming(text: &str) -> Result<f64, String> {
    let words = || "it is no span; give one like 30m, 2h or 7d".to_owned();
    let (at, unit) = text.char_indices().next_back().ok_or_else(words)?;
    let (_, seconds) = UNITS.iter().find(|(known, _)| *known == unit).ok_or_else(words)?;
    let count: u32 = text[..at].parse().ok().filter(|count| *count > 0).ok_or_else(words)?;
    let now = Zoned::now().timestamp().as_millisecond() / 1000;
    let seconds = i64::try_from(*seconds).unwrap_or(i64::MAX).saturating_mul(i64::from(count));
    #[expect(clippy::cast_precision_loss, reason = "seconds of a few thousand years")]
    Ok(now.saturating_add(seconds) as f64)
}

/// Parses a time relative to `now`, in its time zone.
fn parse_at(text: &str, now: &Zoned) -> Result<f64, String> {
    if is_number(text) {
        return number(text);
    }
    if is_day(text) {
        return day(text, now);
    }
    if let Some(date) = words::day(text, now.date()) {
        return begin(date, now);
    }
    let Some((at, last)) = text.char_indices().next_back() else {
        return Err(format!("it is empty; give {FORMS}"));
    };
    let count = &text[..at];
    match UNITS.iter().find(|(unit, _)| *unit == last) {
        Some((_, seconds)) => span(count, *seconds, now),
        None if is_number(count) => Err(format!("there is no unit {last}; the units are s, m, h, d and w")),
        None => Err(format!("give {FORMS}")),
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_digit())
        && text.chars().all(|char| char.is_ascii_digit() || char == '.')
}

/// Returns whether a text has the form of a date, even of one that doesn't exist.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.chars().all(|char| char.is_ascii_digit()))
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds == 0.0 || seconds >= EARLIEST => Ok(seconds),
        Ok(_) => Err(format!("a number alone is Unix seconds, and those are in the 1970s; give {FORMS}")),
        Err(_) => Err(format!("it is no number; give {FORMS}")),
    }
}

fn day(text: &str, now: &Zoned) -> Result<f64, String> {
    if text.len() != "2026-11-20".len() {
        return Err("a day is written YYYY-MM-DD".into());
    }
    let date: Date = text.parse().map_err(|_| "there is no such day".to_owned())?;
    begin(date, now)
}

/// Returns the beginning of a day in the time zone of `now`.
fn begin(date: Date, now: &Zoned) -> Result<f64, String> {
    let start = date.to_zoned(now.time_zone().clone()).map_err(|_| "there is no such day".to_owned())?;
    seconds(start.timestamp().as_second())
}

fn span(count: &str, unit: u64, now: &Zoned) -> Result<f64, String> {
    if count.is_empty() || !count.chars().all(|char| char.is_ascii_digit()) {
        return Err(format!("a span is a whole number and a unit; give {FORMS}"));
    }
    let back = count.parse::<u64>().ok().and_then(|count| i64::try_from(count.checked_mul(unit)?).ok());
    match back.and_then(|back| now.timestamp().as_second().checked_sub(back)) {
        Some(moment) => seconds(moment),
        None => Err("that is before 1970".into()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a calendar are exact")]
fn seconds(moment: i64) -> Result<f64, String> {
    if moment < 0 { Err("that is before 1970".into()) } else { Ok(moment as f64) }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::{TimeZone, offset};

    use super::*;

    /// 2026-11-21 01:30:00 in a zone two hours east of Greenwich.
    fn now() -> Zoned {
        Timestamp::from_second(1_795_217_400).unwrap().to_zoned(TimeZone::fixed(offset(2)))
    }

    #[test]
    fn a_span_from_now_on_ends_later() {
        let now = Zoned::now().timestamp().as_millisecond() as f64 / 1000.0;
        let ahead = |text: &str| coming(text).map(|end| (end - now).round() / 60.0);
        assert!((ahead("30m").unwrap() - 30.0).abs() < 1.0);
        assert!((ahead("7d").unwrap() - 10_080.0).abs() < 1.0);
        for wrong in ["", "2", "h", "-2h", "2x", "0h", "yesterday", "2h30m"] {
            assert!(coming(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments_are_spans_days_or_seconds() {
        assert_eq!(now().to_string(), "2026-11-21T01:30:00+02:00[+02:00]");
        for (text, expected) in [
            ("0s", 1_795_217_400.0),
            ("90s", 1_795_217_310.0),
            ("30m", 1_795_215_600.0),
            ("12h", 1_795_174_200.0),
            ("7d", 1_794_612_600.0),
            ("007d", 1_794_612_600.0),
            ("2w", 1_794_007_800.0),
            ("2026-11-21", 1_795_212_000.0),
            ("yesterday", 1_795_125_600.0),
            ("last tuesday", 1_794_866_400.0),
            ("2024-02-29", 1_709_157_600.0),
            ("1790000000", 1_790_000_000.0),
            ("1790000000.25", 1_790_000_000.25),
            ("0", 0.0),
        ] {
            assert_eq!(parse_at(text, &now()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_moment_is_named() {
        for (text, words) in [
            ("", "it is empty"),
            ("soon", "give 7d"),
            ("d", "a whole number and a unit"),
            ("1.5d", "a whole number and a unit"),
            ("-3d", "a whole number and a unit"),
            ("7dd", "a whole number and a unit"),
            ("7y", "there is no unit y"),
            ("7日", "there is no unit 日"),
            ("7", "a number alone is Unix seconds"),
            ("20261120", "a number alone is Unix seconds"),
            ("1.2.3", "it is no number"),
            ("2026-02-30", "there is no such day"),
            ("2026-1-2", "a day is written YYYY-MM-DD"),
            ("1960-01-01", "that is before 1970"),
            ("9999w", "that is before 1970"),
            ("99999999999999999999d", "that is before 1970"),
            ("NaN", "give 7d"),
        ] {
            let error = parse_at(text, &now()).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
