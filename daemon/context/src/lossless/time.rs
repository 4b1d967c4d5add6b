//! Formats a time in a map.

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Formats as `2026-11-22 10:02`, in UTC. The date follows H. Hinnant's algorithm `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
#[expect(clippy::cast_possible_truncation, reason = "seconds of any date have room in 64 bits, others are cut off")]
pub(super) fn minute(seconds: f64) -> String {
    let seconds = seconds as i64;
    let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Days since 0000-03-01, so that a leap day is the last one of its year.
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", rest / 3_600, rest % 3_600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_in_utc() {
        for (seconds, expect) in [
            (0.0, "1970-01-01 00:00"),
            (951_782_400.0, "2000-02-29 00:00"),
            (1_709_251_199.9, "2024-02-29 23:59"),
            (1_795_341_720.0, "2026-11-22 10:02"),
            (-60.0, "1969-12-31 23:59"),
        ] {
            assert_eq!(minute(seconds), expect);
        }
        assert!(!minute(f64::MAX).is_empty() && !minute(f64::NAN).is_empty());
    }
}
