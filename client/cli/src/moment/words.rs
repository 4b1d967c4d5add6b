//! Parses days by their names: yesterday, last tuesday, 3 weeks ago, march 2026.
//!
//! No I/O. A name means the beginning of its day, week, month or year.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

/// The first letters of the months' names, which identify them.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The numbers that people write as words, from one.
const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The least chars of an abbreviated name.
const SHORT: usize = 3;

/// Returns the first day of the named time, or `None` if the words have another form.
pub(super) fn day(text: &str, today: Date) -> Option<Date> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| !["in", "on", "the", "since"].contains(word)).collect();
    match words.as_slice() {
        ["today" | "now"] => Some(today),
        ["yesterday"] => today.yesterday().ok(),
        ["tomorrow"] => today.tomorrow().ok(),
        [count, unit, "ago"] => back(count, unit, today),
        ["this", unit] => begin(unit, today),
        ["last" | "past", word] => match weekday(word) {
            Some(day) => before(day, today),
            None => begin(word, today.checked_sub(span(1, word)?).ok()?),
        },
        [word] if weekday(word).is_some() => before(weekday(word)?, today),
        [name] => latest(month(name)?, today),
        [name, year] => Date::new(year.parse().ok().filter(|_| year.len() == 4)?, month(name)?, 1).ok(),
        _ => None,
    }
}

/// Returns the day that many days, weeks, months or years ago; `a` means one.
fn back(count: &str, unit: &str, today: Date) -> Option<Date> {
    let count = match count {
        "a" | "an" => 1,
        word => match NUMBERS.iter().position(|number| *number == word) {
            Some(before) => i64::try_from(before).ok()? + 1,
            None => word.parse().ok().filter(|count| (0..=10_000).contains(count))?,
        },
    };
    today.checked_sub(span(count, unit)?).ok()
}

fn span(count: i64, unit: &str) -> Option<Span> {
    match unit.trim_end_matches('s') {
        "day" => Some(count.days()),
        "week" => Some(count.weeks()),
        "month" => Some(count.months()),
        "year" => Some(count.years()),
        _ => None,
    }
}

/// Returns the first day of the week, month or year of a day.
fn begin(unit: &str, day: Date) -> Option<Date> {
    match unit {
        "week" => day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok(),
        "month" => Some(day.first_of_month()),
        "year" => Some(day.first_of_year()),
        _ => None,
    }
}

/// Returns the last such weekday before today.
fn before(weekday: Weekday, today: Date) -> Option<Date> {
    today.nth_weekday(-1, weekday).ok()
}

/// Returns the last such month that has begun.
fn latest(month: i8, today: Date) -> Option<Date> {
    let year = if month <= today.month() { today.year() } else { today.year().checked_sub(1)? };
    Date::new(year, month, 1).ok()
}

fn month(name: &str) -> Option<i8> {
    let full = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let known = MONTHS.iter().zip(full).position(|(short, full)| name.starts_with(short) && full.starts_with(name))?;
    i8::try_from(known + 1).ok()
}

fn weekday(name: &str) -> Option<Weekday> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    days.into_iter().find(|(full, _)| name.len() >= SHORT && full.starts_with(name)).map(|(_, day)| day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_names() {
        // A Saturday.
        let today: Date = "2026-11-21".parse().unwrap();
        for (text, expected) in [
            ("today", "2026-11-21"),
            ("Yesterday", "2026-11-20"),
            ("tomorrow", "2026-11-22"),
            ("last tuesday", "2026-11-17"),
            ("on tue", "2026-11-17"),
            ("saturday", "2026-11-14"),
            ("3 days ago", "2026-11-18"),
            ("a week ago", "2026-11-14"),
            ("three weeks ago", "2026-10-31"),
            ("2 months ago", "2026-09-21"),
            ("this week", "2026-11-16"),
            ("last week", "2026-11-09"),
            ("last month", "2026-10-01"),
            ("past year", "2025-01-01"),
            ("in march", "2026-03-01"),
            ("december", "2025-12-01"),
            ("nov", "2026-11-01"),
            ("sept 2024", "2024-09-01"),
        ] {
            assert_eq!(day(text, today).map(|day| day.to_string()).as_deref(), Some(expected), "{text}");
        }
        for other in [
            "",
            "soon",
            "last",
            "ago",
            "x days ago",
            "-3 days ago",
            "march 26",
            "99999 years ago",
            "last fortnight",
            "tu",
        ] {
            assert_eq!(day(other, today), None, "{other}");
        }
    }
}
