//! Sizes and durations with units.

use std::time::Duration;

/// Reads `64MiB`, `2GiB`, `512KiB` or a plain number of bytes.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Reads `7d`, `12h`, `30m` or `90s`, in seconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Reads what [`seconds`] reads, and `300ms`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    match split(text)? {
        (number, "ms") => Some(Duration::from_millis(number)),
        _ => seconds(text).map(Duration::from_secs),
    }
}

/// Bytes as [`bytes`] reads them, in the largest unit that leaves no rest.
pub(super) fn show_bytes(count: u64) -> String {
    show(count, &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)], "B")
}

/// Seconds as [`seconds`] reads them, likewise.
pub(super) fn show_seconds(count: u64) -> String {
    show(count, &[("d", 24 * 3600), ("h", 3600), ("m", 60)], "s")
}

fn show(count: u64, units: &[(&str, u64)], smallest: &str) -> String {
    match units.iter().find(|(_, size)| count > 0 && count.is_multiple_of(*size)) {
        Some((unit, size)) => format!("{}{unit}", count / size),
        None => format!("{count}{smallest}"),
    }
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.find(|char: char| !char.is_ascii_digit() && char != '_').unwrap_or(text.len());
    Some((text[..digits].replace('_', "").parse().ok()?, text[digits..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_binary() {
        for (text, size) in [
            ("64MiB", Some(64 << 20)),
            ("2 GiB", Some(2 << 30)),
            ("1_000", Some(1000)),
            ("5MB", None),
            ("MiB", None),
            ("-1", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(bytes(text), size, "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for (size, text) in [(0, "0B"), (1000, "1000B"), (2 << 30, "2GiB"), (1536 << 20, "1536MiB"), (1 << 10, "1KiB")]
        {
            assert_eq!((show_bytes(size).as_str(), bytes(text)), (text, Some(size)));
        }
        for (time, text) in [(0, "0s"), (90, "90s"), (180, "3m"), (604_800, "7d"), (7200, "2h")] {
            assert_eq!((show_seconds(time).as_str(), seconds(text)), (text, Some(time)));
        }
    }

    #[test]
    fn durations_name_their_unit() {
        for (text, expected) in [
            ("7d", Some(604_800)),
            ("12 h", Some(43_200)),
            ("30m", Some(1800)),
            ("0s", Some(0)),
            ("7", None),
            ("d", None),
            ("1.5d", None),
            ("99999999999999999d", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn short_durations_count_in_milliseconds() {
        for (text, expected) in [
            ("300ms", Some(Duration::from_millis(300))),
            ("1_500 ms", Some(Duration::from_millis(1500))),
            ("5s", Some(Duration::from_secs(5))),
            ("3m", Some(Duration::from_secs(180))),
            ("5", None),
            ("ms", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }
}
