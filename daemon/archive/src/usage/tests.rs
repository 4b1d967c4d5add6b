use super::*;
use crate::session::SessionRow;
use crate::testing::{archive, session};

fn row<'a>(session: Option<&'a str>, model: Option<&'a str>, time: f64, input: u64) -> UsageRow<'a> {
    let buckets = Buckets { input, output: 10, cache_read: 3, cache_write: 2, reasoning: 1 };
    UsageRow { session, call: None, time, model, agent: None, provider: Some("p"), buckets }
}

fn all(by: GroupBy) -> UsageQuery<'static> {
    UsageQuery { session: None, profile: None, since: None, until: None, by }
}

#[test]
fn calls_are_added_up() {
    let (_folder, archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.create_session(&SessionRow { profile: "work".into(), ..session("t") }).unwrap();
    let day = 86_400.0;
    for usage in [
        row(Some("s"), Some("small"), day * 100.5, 1),
        row(Some("t"), Some("large"), day * 102.5, 100),
        row(Some("t"), None, day * 104.5, 5),
        row(None, Some("small"), day * 102.5, 2),
    ] {
        archive.record_usage(&usage).unwrap();
    }
    let sums = |query: UsageQuery<'_>| -> Vec<(String, u64, u64)> {
        let (rows, all) = archive.reader().usage(&query).unwrap();
        assert_eq!(rows.iter().map(|(_, totals)| totals.total()).sum::<u64>(), all.total());
        rows.into_iter().map(|(key, totals)| (key, totals.calls, totals.total())).collect()
    };
    let row = |key: &str, calls, total| (key.to_owned(), calls, total);
    assert_eq!(sums(all(GroupBy::Session)), [row("t", 2, 135), row("unknown", 1, 17), row("s", 1, 16)]);
    assert_eq!(sums(all(GroupBy::Model)), [row("large", 1, 115), row("small", 2, 33), row("unknown", 1, 20)]);
    assert_eq!(sums(all(GroupBy::Agent)), [row("a", 3, 151), row("unknown", 1, 17)]);
    let days = sums(all(GroupBy::Day));
    assert_eq!(days.iter().map(|(_, calls, _)| *calls).collect::<Vec<_>>(), [1, 2, 1]);
    assert!(days.windows(2).all(|pair| pair[0].0 < pair[1].0) && days[0].0.starts_with("1970-04-1"), "{days:?}");
    assert_eq!(sums(UsageQuery { session: Some("s"), ..all(GroupBy::Model) }), [row("small", 1, 16)]);
    assert_eq!(sums(UsageQuery { profile: Some("work"), ..all(GroupBy::Session) }), [row("t", 2, 135)]);
    let between = UsageQuery { since: Some(day * 100.5), until: Some(day * 102.5), ..all(GroupBy::Session) };
    assert_eq!(sums(between), [row("s", 1, 16)]);
    assert_eq!(sums(UsageQuery { session: Some("unknown"), ..all(GroupBy::Day) }), []);
}

#[test]
fn the_newest_prompt_of_a_session_is_known() {
    let (_folder, archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let newest = || archive.reader().show("s").unwrap().unwrap().last_prompt;
    assert_eq!(newest(), None);
    for (time, input, prompt) in [(5.0, 100, 105), (3.0, 900, 105), (7.0, 20, 25)] {
        archive.record_usage(&row(Some("s"), None, time, input)).unwrap();
        assert_eq!(newest(), Some(prompt));
    }
    archive.record_usage(&row(Some("s"), None, 9.0, i64::MAX.unsigned_abs())).unwrap();
    assert_eq!(newest(), Some(i64::MAX.unsigned_abs()));
}

#[test]
fn prompt_and_total_are_as_published() {
    let totals = Totals { calls: 1, input: 1000, output: 500, cache_read: 2000, cache_write: 400, reasoning: 9 };
    assert_eq!((totals.prompt(), totals.total()), (3400, 3900));
}

#[test]
fn no_number_is_too_large_to_be_added() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let largest = i64::MAX.unsigned_abs();
    assert!(archive.record_usage(&row(Some("s"), None, 1.0, largest + 1)).is_err());
    for _ in 0..3 {
        archive.record_usage(&row(Some("s"), None, 1.0, largest)).unwrap();
    }
    let (rows, total) = archive.reader().usage(&all(GroupBy::Session)).unwrap();
    assert_eq!((rows[0].1.calls, total.input), (3, largest));
    archive.remove_session("s").unwrap();
    archive.record_usage(&row(Some("s"), None, 1.0, 1)).unwrap();
    assert_eq!(archive.reader().usage(&all(GroupBy::Session)).unwrap().0.len(), 0, "it came too late");
}
