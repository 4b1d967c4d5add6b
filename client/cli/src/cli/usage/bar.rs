//! Bars that compare numbers.

use std::ffi::OsStr;

/// Chars of the longest bar.
const WIDTH: u64 = 20;

/// Blocks of one eighth to seven eighths of a char.
const PARTS: [&str; 7] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// What bars are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Block characters, to an eighth of a char.
    Blocks,
    /// `#`, for a locale without UTF-8.
    Ascii,
}

impl Ink {
    /// What the locale can show.
    pub(crate) fn of_environment() -> Self {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
        let first = set.into_iter().find(|value| !value.is_empty());
        Self::of_locale(first.as_deref())
    }

    fn of_locale(locale: Option<&OsStr>) -> Self {
        let name = locale.unwrap_or_default().to_string_lossy().to_lowercase();
        if name.contains("utf-8") || name.contains("utf8") { Self::Blocks } else { Self::Ascii }
    }

    /// A bar for a number beside the largest one; any number but 0 is seen.
    pub(crate) fn bar(self, number: u64, most: u64) -> String {
        if number == 0 || most == 0 {
            return String::new();
        }
        let steps = match self {
            Self::Blocks => 8,
            Self::Ascii => 1,
        };
        let (number, most) = (u128::from(number.min(most)), u128::from(most));
        let full = u128::from(WIDTH * steps);
        let length = ((number * full + most / 2) / most).clamp(1, full);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match self {
            Self::Ascii => "#".repeat(length),
            Self::Blocks => {
                let part = (length % 8).checked_sub(1).and_then(|part| PARTS.get(part));
                format!("{}{}", "█".repeat(length / 8), part.unwrap_or(&""))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!((Ink::Ascii.bar(number, most), Ink::Blocks.bar(number, most)), (ascii.into(), blocks.into()));
        }
    }

    #[test]
    fn the_locale_decides_about_blocks() {
        for (locale, expected) in [
            (Some("en_US.UTF-8"), Ink::Blocks),
            (Some("C.utf8"), Ink::Blocks),
            (Some("C"), Ink::Ascii),
            (Some(""), Ink::Ascii),
            (None, Ink::Ascii),
        ] {
            assert_eq!(Ink::of_locale(locale.map(OsStr::new)), expected, "{locale:?}");
        }
    }
}
