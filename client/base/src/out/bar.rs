//! Bars: a share of a whole, or numbers next to each other.

use super::locale;

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
        if locale::is_unicode() { Self::Blocks } else { Self::Ascii }
    }

    /// Draws a bar for a number, given as a share of the largest one. The longest bar is at most as wide as the room.
    pub fn bar(self, share: f64, room: usize) -> String {
        let width = WIDTH.min(room);
        match self {
            Self::Ascii => "#".repeat(steps(share, width)),
            Self::Blocks => {
                let eighths = steps(share, width * 8);
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
                [BarStyle::Ascii, BarStyle::Blocks].map(|style| style.bar(share(number, most), 80)),
                [ascii, blocks]
            );
        }
        assert_eq!([BarStyle::Ascii, BarStyle::Blocks].map(|style| style.bar(0.5, 8)), ["####", "████"]);
    }
}
