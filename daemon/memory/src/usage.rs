//! How full a store is.

use std::fmt::{self, Display};

/// How full a store is; displayed as `P% — C/L chars`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Chars of the joined entries.
    pub chars: usize,
    /// Limit in chars.
    pub limit: usize,
}

impl Usage {
    /// Whole percent, at most 100, rounded down; 0 when the limit is 0.
    #[must_use]
    pub fn percent(self) -> usize {
        self.chars.saturating_mul(100).checked_div(self.limit).unwrap_or(0).min(100)
    }

    /// `C/L` without the percentage, as an overflow error shows it.
    #[must_use]
    pub fn fraction(self) -> String {
        format!("{}/{}", Thousands(self.chars), Thousands(self.limit))
    }
}

impl Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}% — {} chars", self.percent(), self.fraction())
    }
}

/// An integer with commas between groups of three digits.
#[derive(Debug, Clone, Copy)]
pub struct Thousands(pub usize);

impl Display for Thousands {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                formatter.write_str(",")?;
            }
            write!(formatter, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_told_with_thousands_and_rounded_down() {
        for (chars, limit, words) in [
            (0, 2200, "0% — 0/2,200 chars"),
            (1474, 2200, "67% — 1,474/2,200 chars"),
            (2200, 2200, "100% — 2,200/2,200 chars"),
            (5000, 2200, "100% — 5,000/2,200 chars"),
            (5, 0, "0% — 5/0 chars"),
            (1_234_567, 10_000_000, "12% — 1,234,567/10,000,000 chars"),
        ] {
            assert_eq!(Usage { chars, limit }.to_string(), words);
        }
    }
}
