//! The errors of reading and searching outputs.

use herma_disk::DiskError;

use crate::catalog::Reason;
use crate::handle::Handle;

/// The error for an output that can't be returned or searched.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// There is no output of that handle or path.
    #[error("there is no output {0:?}")]
    NotFound(String),
    /// The output existed, and expired.
    #[error("the output {handle} expired on {} ({reason}): it had {bytes} bytes, sha256 {}", date(*at), base16ct::lower::encode_string(sha256))]
    Expired {
        /// The handle of the output.
        handle: Handle,
        /// When it expired, in Unix seconds.
        at: f64,
        /// The length of its text, in bytes.
        bytes: u64,
        /// SHA-256 of its text.
        sha256: [u8; 32],
        /// Why it expired.
        reason: Reason,
    },
    /// The path leads out of the folder of the outputs.
    #[error("{0:?} is not the path of an output")]
    Outside(String),
    /// The output is no JSON, so it can't be shown as such.
    #[error("the output is not JSON: {0}")]
    NotJson(String),
    /// The file is not text, from this byte on.
    #[error("the output {path:?} is not UTF-8 at byte {byte}")]
    NotText {
        /// The file.
        path: std::path::PathBuf,
        /// Offset of the first byte that is no text, from 0.
        byte: u64,
    },
    /// The query is no valid pattern, in the words of the parser.
    #[error("the query can't be searched for: {0}")]
    Pattern(String),
    /// The caller cancelled the search.
    #[error("the search was cancelled")]
    Cancelled,
    /// A file operation failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Returns the UTC date of a time in Unix seconds, as `2026-01-31`.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "days that no calendar has are cut to one that it has")]
pub fn date(at: f64) -> String {
    let days = (at / 86_400.0).floor().clamp(-700_000.0, 2_900_000.0) as i64;
    // Days since the 1st of March of the year 0, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns the part of a caller's text that an error repeats.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (at, expected) in [
            (0.0, "1970-01-01"),
            (951_782_400.0, "2000-02-29"),
            (951_868_800.0, "2000-03-01"),
            (1_790_000_000.0, "2026-09-21"),
            (-1.0, "1969-12-31"),
            (1_798_761_599.0, "2026-12-31"),
        ] {
            assert_eq!(date(at), expected);
        }
    }
}
