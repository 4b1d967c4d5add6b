//! Bars: a share of a whole, or numbers next to each other.

use std::ffi::OsStr;

/// The chars of the longest bar that compares numbers.
const WIDTH: usize = 20;

/// Blocks of one eighth to seven eighths of a char.
const PARTS: [&str; 7] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Returns a part as a share of the whole; 0 if the whole is 0.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Draws a share of a whole as a bar of `width` cells, filled up with light blocks.
pub fn bar(share: f64, width: usize) -> String {
    let cells = steps(share, width);
    format!("{}{}", "█".repeat(cells), "░".repeat(width - cells))
}

/// The characters of bars that compare numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarStyle {
    /// Block characters, to an eighth of a char.
    Blocks,
    /// `#`, for a locale without UTF-8.
    Ascii,
}

impl BarStyle {
    /// Returns the characters that the locale can show.
    pub fn of_environment() -> Self {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
        let first = set.into_iter().find(|value| !value.is_empty());
        Self::of_locale(first.as_deref())
    }

    fn of_locale(locale: Option<&OsStr>) -> Self {
        let name = locale.unwrap_or_default().to_string_lossy().to_lowercase();
        if name.contains("utf-8") || name.contains("utf8") { Self::Blocks } else { Self::Ascii }
    }

    /// Draws a bar for a number, given as a share of the largest one.
    pub fn bar(self, share: f64) -> String {
        match self {
            Self::Ascii => "#".repeat(steps(share, WIDTH)),
            Self::Blocks => {
                let eighths = steps(share, WIDTH * 8);
                let part = (eighths % 8).checked_sub(1).and_then(|part| PARTS.get(part));
                format!("{}{}", "█".repeat(eighths / 8), part.unwrap_or(&""))
            }
        }
    }
}

/// Returns how many of the steps of a full bar a share fills: at least one if the share is over 0, and at most all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "0 to full")]
fn steps(share: f64, full: usize) -> usize {
    if share > 0.0 { ((share.min(1.0) * full as f64).round() as usize).max(1).min(full) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_something_for_something() {
        for (share, expected) in
            [(0.0, "░░░░"), (0.01, "█░░░"), (0.5, "██░░"), (1.0, "████"), (7.0, "████"), (f64::NAN, "░░░░")]
        {
            assert_eq!(bar(share, 4), expected, "{share}");
        }
    }

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        for (number, most, ascii, blocks) in [
            (0, 100, "", ""),
            (100, 100, "####################", "████████████████████"),
            (50, 100, "##########", "██████████"),
            (25, 100, "#####", "█████"),
            (13, 100, "###", "██▋"),
            (1, 1_000_000, "#", "▏"),
            (u64::MAX, u64::MAX, "####################", "████████████████████"),
            (7, 3, "####################", "████████████████████"),
            (0, 0, "", ""),
        ] {
            assert_eq!(
                (BarStyle::Ascii.bar(share(number, most)), BarStyle::Blocks.bar(share(number, most))),
                (ascii.into(), blocks.into())
            );
        }
    }

    #[test]
    fn the_locale_decides_about_blocks() {
        for (locale, expected) in [
            (Some("en_US.UTF-8"), BarStyle::Blocks),
            (Some("C.utf8"), BarStyle::Blocks),
            (Some("C"), BarStyle::Ascii),
            (Some(""), BarStyle::Ascii),
            (None, BarStyle::Ascii),
        ] {
            assert_eq!(BarStyle::of_locale(locale.map(OsStr::new)), expected, "{locale:?}");
        }
    }
}
