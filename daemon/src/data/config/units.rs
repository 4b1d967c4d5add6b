//! Sizes and durations with units.

/// Units, largest first.
pub(super) struct Units {
    /// Each unit, with its size in the smallest unit.
    all: &'static [(&'static str, u64)],
    /// The unit that is shown for zero.
    zero: &'static str,
}

/// `64MiB`, `2GiB`, `512KiB` or a plain number of bytes.
pub(super) const BYTES: Units =
    Units { all: &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)], zero: "B" };

/// `7d`, `12h`, `30m`, `90s` or `300ms`, in milliseconds.
pub(super) const MILLISECONDS: Units =
    Units { all: &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)], zero: "s" };

impl Units {
    /// Reads a number and a unit.
    pub(super) fn read(&self, text: &str) -> Option<u64> {
        let text = text.trim();
        let digits = text.find(|char: char| !char.is_ascii_digit() && char != '_').unwrap_or(text.len());
        let number: u64 = text[..digits].replace('_', "").parse().ok()?;
        let (_, size) = self.all.iter().find(|(unit, _)| *unit == text[digits..].trim())?;
        number.checked_mul(*size)
    }

    /// Writes a number for [`Self::read`], in the largest unit that divides it.
    pub(super) fn show(&self, count: u64) -> String {
        match self.all.iter().find(|(_, size)| count > 0 && count.is_multiple_of(*size)) {
            Some((unit, size)) => format!("{}{unit}", count / size),
            None => format!("0{}", self.zero),
        }
    }
}

/// Writes a number with `mark` between its groups of three digits.
pub(super) fn grouped(number: i64, mark: char) -> String {
    let digits = number.to_string();
    let gap = |at: usize| (at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(mark);
    digits.chars().enumerate().flat_map(|(at, digit)| gap(at).into_iter().chain([digit])).collect()
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
            assert_eq!(BYTES.read(text), size, "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for (size, text) in [(0, "0B"), (1000, "1000B"), (2 << 30, "2GiB"), (1536 << 20, "1536MiB"), (1 << 10, "1KiB")]
        {
            assert_eq!((BYTES.show(size).as_str(), BYTES.read(text)), (text, Some(size)));
        }
        for (millis, text) in
            [(0, "0s"), (1500, "1500ms"), (90_000, "90s"), (180_000, "3m"), (604_800_000, "7d"), (7_200_000, "2h")]
        {
            assert_eq!((MILLISECONDS.show(millis).as_str(), MILLISECONDS.read(text)), (text, Some(millis)));
        }
    }

    #[test]
    fn durations_name_their_unit() {
        for (text, millis) in [
            ("7d", Some(604_800_000)),
            ("12 h", Some(43_200_000)),
            ("30m", Some(1_800_000)),
            ("0s", Some(0)),
            ("300ms", Some(300)),
            ("1_500 ms", Some(1500)),
            ("7", None),
            ("d", None),
            ("ms", None),
            ("1.5d", None),
            ("99999999999999999d", None),
        ] {
            assert_eq!(MILLISECONDS.read(text), millis, "{text}");
        }
    }

    #[test]
    fn thousands_are_told_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number, ','), text);
        }
    }
}
