//! Finds the time that a question is about: `what did we change last Thursday`, `the outage two weeks ago`.
//!
//! Pure: the caller passes the time. English phrases, dates in numbers, and the names of days in other languages.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _, Zoned};

/// Returns the time that a question names, in Unix seconds; the first one if there are several.
pub(super) fn named_in(question: &str, now: &Zoned) -> Option<Range<f64>> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric() && char != '-').collect();
    let words: Vec<&str> =
        words.into_iter().map(|word| word.trim_matches('-')).filter(|word| !word.is_empty()).collect();
    let today = now.date();
    let unspaced = UNSPACED.iter().find(|(name, _)| lower.contains(name));
    if let Some((_, days)) = unspaced {
        return Days::one(back(today, days.days())?)?.seconds(now);
    }
    (0..words.len()).find_map(|at| {
        let before = at.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
        phrase_at(words.get(at..)?, before, today)?.qualified(before, today)?.seconds(now)
    })
}

/// Names of days in languages without spaces, and how many days ago they are. Longer names come first.
const UNSPACED: [(&str, i64); 9] = [
    ("一昨日", 2),
    ("前天", 2),
    ("昨天", 1),
    ("昨日", 1),
    ("어제", 1),
    ("今天", 0),
    ("今日", 0),
    ("오늘", 0),
    ("เมื่อวาน", 1),
];

/// Days in a row, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Days {
    first: Date,
    last: Date,
}

impl Days {
    fn one(day: Date) -> Option<Self> {
        Some(Self { first: day, last: day })
    }

    /// Returns the days from `first` until before the day `span` later.
    fn of(first: Date, span: Span) -> Option<Self> {
        Some(Self { first, last: first.checked_add(span).ok()?.yesterday().ok()? })
    }

    /// Applies the word before a phrase: `since Monday`, `before March`.
    fn qualified(self, before: &str, today: Date) -> Option<Self> {
        match before {
            "since" => Some(Self { last: today.max(self.last), ..self }),
            "after" => Some(Self { first: self.last.tomorrow().ok()?, last: today.max(self.last) }),
            "before" => Some(Self { first: Date::MIN, last: self.first.yesterday().ok()? }),
            "until" | "till" => Some(Self { first: Date::MIN, ..self }),
            _ => Some(self),
        }
    }

    /// Returns the days in Unix seconds, in the time zone of `now`.
    fn seconds(self, now: &Zoned) -> Option<Range<f64>> {
        let start = |day: Date| {
            let midnight = day.to_zoned(now.time_zone().clone()).ok()?;
            Some(midnight.timestamp().as_duration().as_secs_f64())
        };
        let first = if self.first == Date::MIN { f64::MIN } else { start(self.first)? };
        Some(first..start(self.last.tomorrow().ok()?)?)
    }
}

/// Returns the days that the phrase at the beginning of the words names. `before` is the word before it.
fn phrase_at(words: &[&str], before: &str, today: Date) -> Option<Days> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let first = word(0);
    if [first, word(1), word(2)] == ["day", "before", "yesterday"] {
        return Days::one(back(today, 2.days())?);
    }
    if let Some(days) = relative_day(first) {
        return Days::one(back(today, days.days())?);
    }
    if let (Some(count), Some(unit), "ago") = (number(first), Unit::of(word(1)), word(2)) {
        return unit.ago(count, today);
    }
    numbers(first)
        .or_else(|| relative(first, word(1), word(2), today))
        .or_else(|| Days::one(latest(weekday(first)?, today)?))
        .or_else(|| month_phrase(words, before, today))
}

/// Returns how many days ago a day is that one word names.
fn relative_day(word: &str) -> Option<i64> {
    match word {
        "today" | "tonight" | "heute" | "hoy" | "oggi" | "hoje" | "vandaag" | "сегодня" => Some(0),
        "yesterday" | "gestern" | "ayer" | "ieri" | "ontem" | "gisteren" | "вчера" => Some(1),
        "vorgestern" | "anteayer" | "eergisteren" | "позавчера" => Some(2),
        _ => None,
    }
}

/// Returns the day of `2026-11-20`, or the month of `2026-11`.
fn numbers(word: &str) -> Option<Days> {
    let parts: Vec<&str> = word.split('-').collect();
    let is_number = |part: &&str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [year, month] if is_number(year, 4) && is_number(month, 2) => {
            Days::of(Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?, 1.month())
        }
        [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2) => {
            Days::one(Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?)
        }
        _ => None,
    }
}

/// A unit of time that is at least a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    fn of(word: &str) -> Option<Self> {
        match word {
            "day" | "days" => Some(Self::Day),
            "week" | "weeks" => Some(Self::Week),
            "month" | "months" => Some(Self::Month),
            "year" | "years" => Some(Self::Year),
            _ => None,
        }
    }

    fn span(self, count: i64) -> Option<Span> {
        let span = Span::new();
        match self {
            Self::Day => span.try_days(count),
            Self::Week => span.try_weeks(count),
            Self::Month => span.try_months(count),
            Self::Year => span.try_years(count),
        }
        .ok()
    }

    /// Returns the day, week, month or year that is so many of them ago.
    fn ago(self, count: i64, today: Date) -> Option<Days> {
        let then = back(today, self.span(count)?)?;
        let first = match self {
            Self::Day => then,
            Self::Week => monday(then)?,
            Self::Month => then.first_of_month(),
            Self::Year => then.first_of_year(),
        };
        Days::of(first, self.span(1)?)
    }
}

/// Returns the days of `last week`, `this month`, `the past three days`, `last Thursday` or `last March`.
fn relative(first: &str, second: &str, third: &str, today: Date) -> Option<Days> {
    let is_past = ["last", "past", "previous"].contains(&first);
    if !is_past && first != "this" {
        return None;
    }
    if let (Some(count), Some(unit), true) = (number(second), Unit::of(third), is_past) {
        return Some(Days { first: back(today, unit.span(count)?)?, last: today });
    }
    if let Some(unit) = Unit::of(second) {
        return match (first, unit) {
            ("past", Unit::Week | Unit::Month | Unit::Year) => {
                Some(Days { first: back(today, unit.span(1)?)?, last: today })
            }
            _ => unit.ago(i64::from(is_past), today),
        };
    }
    if ["morning", "afternoon", "evening", "night"].contains(&second) {
        return Days::one(back(today, i64::from(is_past).days())?);
    }
    if second == "weekend" {
        let monday = if is_past { monday(today)? } else { monday(today)?.checked_add(1.week()).ok()? };
        return Days::of(back(monday, 2.days())?, 2.days());
    }
    if let Some(day) = weekday(second) {
        return Days::one(latest(day, if is_past { today.yesterday().ok()? } else { today })?);
    }
    latest_month(month(second)?, today)
}

/// Returns the days of `in March`, `March 5`, `5 March 2026`, `in March 2026` or `in 2026`. The names of months that are
/// other words, too, need a number or a preposition.
fn month_phrase(words: &[&str], before: &str, today: Date) -> Option<Days> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_dated = ["in", "during", "of", "since", "before", "after", "until", "till"].contains(&before);
    if let (true, Some(year)) = (is_dated, year(word(0))) {
        return Days::of(Date::new(year, 1, 1).ok()?, 1.year());
    }
    // The day before the month: "5 March", "the 5th of March".
    if let Some(day) = day_of_month(word(0)) {
        let at = 1 + usize::from(word(1) == "of");
        return Days::one(day_in(month(word(at))?, day, year(word(at + 1)), today)?);
    }
    let month = month(word(0))?;
    if let Some(day) = day_of_month(word(1)) {
        return Days::one(day_in(month, day, year(word(2)), today)?);
    }
    if let Some(year) = year(word(1)) {
        return Days::of(Date::new(year, month, 1).ok()?, 1.month());
    }
    let is_another_word = ["may", "march", "mars", "mai"].contains(&word(0));
    if is_another_word && !is_dated { None } else { latest_month(month, today) }
}

fn back(from: Date, span: Span) -> Option<Date> {
    from.checked_sub(span).ok()
}

/// Returns the first day of a day's week.
fn monday(day: Date) -> Option<Date> {
    back(day, i64::from(day.weekday().to_monday_zero_offset()).days())
}

/// Returns the last such day that is not after a day.
fn latest(day: Weekday, until: Date) -> Option<Date> {
    back(until, i64::from(until.weekday().since(day)).days())
}

/// Returns the last such month that has begun.
fn latest_month(month: i8, today: Date) -> Option<Days> {
    let year = today.year() - i16::from(month > today.month());
    Days::of(Date::new(year, month, 1).ok()?, 1.month())
}

/// Returns a day of a month; without a year the last one that is not in the future.
fn day_in(month: i8, day: i8, year: Option<i16>, today: Date) -> Option<Date> {
    match year {
        Some(year) => Date::new(year, month, day).ok(),
        None => {
            let this_year = Date::new(today.year(), month, day).ok()?;
            if this_year <= today { Some(this_year) } else { Date::new(today.year() - 1, month, day).ok() }
        }
    }
}

fn number(word: &str) -> Option<i64> {
    const WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if ["a", "an"].contains(&word) {
        return Some(1);
    }
    let named = WORDS.iter().position(|name| *name == word).and_then(|at| i64::try_from(at + 1).ok());
    named.or_else(|| word.parse().ok().filter(|number| (0..10_000).contains(number)))
}

fn year(word: &str) -> Option<i16> {
    (word.len() == 4).then(|| word.parse().ok()).flatten().filter(|year| (1900..2100).contains(year))
}

fn day_of_month(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Returns the day of the week that a word names in one of seven languages.
fn weekday(word: &str) -> Option<Weekday> {
    const DAYS: [(Weekday, &str); 7] = [
        (Weekday::Monday, "monday montag lundi lunes lunedì maandag понедельник"),
        (Weekday::Tuesday, "tuesday dienstag mardi martes martedì dinsdag вторник"),
        (Weekday::Wednesday, "wednesday mittwoch mercredi miércoles mercoledì woensdag среду"),
        (Weekday::Thursday, "thursday donnerstag jeudi jueves giovedì donderdag четверг"),
        (Weekday::Friday, "friday freitag vendredi viernes venerdì vrijdag пятницу"),
        (Weekday::Saturday, "saturday samstag samedi sábado sabato zaterdag субботу"),
        (Weekday::Sunday, "sunday sonntag dimanche domingo domenica zondag воскресенье"),
    ];
    DAYS.iter().find(|(_, names)| names.split(' ').any(|name| name == word)).map(|(day, _)| *day)
}

/// Returns the month that a word names, from 1 on.
fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january januar janvier enero gennaio",
        "february februar février febrero febbraio",
        "march märz mars marzo",
        "april avril abril aprile",
        "may mai mayo maggio",
        "june juni juin junio giugno",
        "july juli juillet julio luglio",
        "august août agosto",
        "september septembre septiembre settembre",
        "october oktober octobre octubre ottobre",
        "november novembre noviembre",
        "december dezember décembre diciembre dicembre",
    ];
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == word))?;
    i8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    /// Returns the first and the last day that a question names on Saturday, 28 November 2026.
    fn days(question: &str) -> Option<String> {
        let now: Zoned = "2026-11-28T15:00[Europe/Zurich]".parse().unwrap();
        let found = named_in(question, &now)?;
        let day = |seconds: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "a time of the table")]
            let at = jiff::Timestamp::from_second(seconds as i64).unwrap();
            at.to_zoned(now.time_zone().clone()).date().to_string()
        };
        let first = if found.start == f64::MIN { String::new() } else { day(found.start) };
        let last = day(found.end - 1.0);
        Some(if first == last { first } else { format!("{first} {last}") })
    }

    #[test]
    fn a_question_names_days() {
        for (question, expected) in [
            ("what did we change last Thursday", "2026-11-26"),
            ("what broke on Saturday?", "2026-11-28"),
            ("last Saturday's deploy", "2026-11-21"),
            ("which flag did I set yesterday", "2026-11-27"),
            ("the day before yesterday we spoke of it", "2026-11-26"),
            ("what did you do this morning", "2026-11-28"),
            ("last night the build failed", "2026-11-27"),
            ("three days ago", "2026-11-25"),
            ("a week ago", "2026-11-16 2026-11-22"),
            ("what did we decide last week?", "2026-11-16 2026-11-22"),
            ("this week", "2026-11-23 2026-11-29"),
            ("in the past week", "2026-11-21 2026-11-28"),
            ("the last 3 days", "2026-11-25 2026-11-28"),
            ("last weekend", "2026-11-21 2026-11-22"),
            ("last month", "2026-10-01 2026-10-31"),
            ("2 months ago", "2026-09-01 2026-09-30"),
            ("last year", "2025-01-01 2025-12-31"),
            ("in March", "2026-03-01 2026-03-31"),
            ("in December", "2025-12-01 2025-12-31"),
            ("last may", "2026-05-01 2026-05-31"),
            ("what landed on March 5th?", "2026-03-05"),
            ("on the 5th of March 2025", "2025-03-05"),
            ("5. März", "2026-03-05"),
            ("December 24", "2025-12-24"),
            ("in February 2024", "2024-02-01 2024-02-29"),
            ("the release in 2024", "2024-01-01 2024-12-31"),
            ("the run of 2026-11-20", "2026-11-20"),
            ("all of 2026-10", "2026-10-01 2026-10-31"),
            ("since Monday", "2026-11-23 2026-11-28"),
            ("after last Monday", "2026-11-24 2026-11-28"),
            ("before March", " 2026-02-28"),
            ("until yesterday", " 2026-11-27"),
            ("was haben wir gestern gemacht", "2026-11-27"),
            ("昨天我们改了什么", "2026-11-27"),
        ] {
            assert_eq!(days(question).as_deref(), Some(expected), "{question}");
        }
    }

    #[test]
    fn most_questions_name_none() {
        for question in [
            "",
            "why did we drop the retry in the sync?",
            "may I use the march algorithm",
            "the last change of the parser",
            "room 2024",
            "version 11-28",
            "10 of 12 tests",
            "99999999999999 days ago",
            "in 9999",
            "february 31",
            "a day",
        ] {
            assert_eq!(days(question), None, "{question}");
        }
    }
}
