//! Sizes with units.

/// Reads `64MiB`, `2GiB`, `512KiB` or a plain number of bytes.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|char: char| !char.is_ascii_digit() && char != '_').unwrap_or(text.len());
    let number: u64 = text[..digits].replace('_', "").parse().ok()?;
    let unit: u64 = match text[digits..].trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
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
}
