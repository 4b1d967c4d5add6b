//! Sizes and durations with units.

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
}
