//! Finds the records of a line. A crash may leave a line with zeros, a torn record before a whole one, or two records
//! without a line break between them. Every whole record is found.

use serde_json::{Deserializer, Value};

use crate::parts;
use crate::repeats::Repeats;
use crate::tally::{NO_JSON, TWICE, Tally};

/// How many times the search for records may read the bytes of a line.
const PASSES: usize = 8;

/// The bytes that the search may always read, however short the line is.
const SMALL: usize = 1 << 20;

/// The records found in a line.
#[derive(Debug, Default, PartialEq)]
struct Records {
    /// The records, in their order.
    whole: Vec<Value>,
    /// Whether the line contains anything else, except white space, zeros and byte order marks.
    is_torn: bool,
    /// Whether the line ends with a whole JSON text.
    ends_whole: bool,
}

/// Returns whether a line without a line break ends with a whole record, so that it is complete.
#[must_use]
pub fn is_complete(line: &str) -> bool {
    records(line, Value::is_object).ends_whole
}

/// Returns the records of a line that were not read before. The rest is counted.
pub(crate) fn new_records(
    line: &str,
    is_record: impl Fn(&Value) -> bool,
    repeats: &mut Repeats,
    tally: &mut Tally,
) -> Vec<Value> {
    let Records { mut whole, is_torn, .. } = records(line, is_record);
    if is_torn {
        tally.add(NO_JSON);
    }
    whole.retain(|record| {
        let is_new = repeats.is_new_record(record);
        if !is_new {
            tally.add(TWICE);
        }
        is_new
    });
    whole
}

/// Parses a line. If it is not one JSON text, its records are the objects that `is_record` accepts, because parts of a
/// torn record are objects too.
fn records(line: &str, is_record: impl Fn(&Value) -> bool) -> Records {
    if let Some(record) = parts::json(line) {
        return Records { whole: vec![record], is_torn: false, ends_whole: true };
    }
    let replaced = herma_json::replace_lone_surrogates(line).map(|(text, _)| text);
    let mut rest = replaced.as_deref().unwrap_or(line);
    let mut budget = (rest.len() * PASSES).max(SMALL);
    let mut found = Records::default();
    while let Some((before, text)) = begin(rest) {
        found.is_torn |= !is_blank(before);
        let mut values = Deserializer::from_str(text).into_iter::<Value>();
        let (value, read) = match values.next() {
            Some(Ok(value)) => (Some(value), values.byte_offset()),
            // The error is after the text that was read. A line contains no line break, so the column is the offset.
            Some(Err(error)) => (None, error.column()),
            None => (None, text.len()),
        };
        found.ends_whole = value.is_some();
        match value {
            Some(record) if is_record(&record) => found.whole.push(record),
            _ => found.is_torn = true,
        }
        budget = budget.saturating_sub(read);
        if budget == 0 {
            (found.is_torn, found.ends_whole) = (true, false);
            return found;
        }
        rest = &text[values.byte_offset().max(1)..];
    }
    let is_at_end = is_blank(rest);
    found.is_torn |= !is_at_end;
    found.ends_whole &= is_at_end;
    found
}

/// Splits the text where the next object may begin: at a brace before a quote. Quotes inside strings are escaped.
fn begin(text: &str) -> Option<(&str, &str)> {
    let is_begin = |at: &usize| text[at + 1..].trim_start().starts_with('"');
    let at = text.match_indices('{').map(|(at, _)| at).find(is_begin)?;
    Some(text.split_at(at))
}

/// Returns whether a text has only white space, zeros and byte order marks.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || matches!(char, '\0' | '\u{feff}'))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn has_type(record: &Value) -> bool {
        record.get("type").is_some_and(Value::is_string)
    }

    fn read(line: &str) -> (Vec<u64>, bool) {
        let found = records(line, has_type);
        (found.whole.iter().map(|record| record["n"].as_u64().unwrap_or(99)).collect(), found.is_torn)
    }

    #[test]
    fn each_whole_record_of_a_line_is_found() {
        let one = r#"{"type":"user","n":1,"message":{"content":"a {\"type\":\"user\"} b"}}"#;
        let two = r#"{ "type":"user","n":2}"#;
        for (line, numbers, is_torn) in [
            (one.to_owned(), vec![1], false),
            (format!("\u{feff}{one}"), vec![1], false),
            (format!("\0\0\0{one}\0\0"), vec![1], false),
            (format!("{one}{two}"), vec![1, 2], false),
            (format!("{one} {two}\r"), vec![1, 2], false),
            (format!("{}{two}", &one[..40]), vec![2], true),
            (format!("{}{one}{two}", &two[..9]), vec![1, 2], true),
            (format!("{one}{}", &two[..12]), vec![1], true),
            (format!("{one}\0\0{{\"type\":\"us"), vec![1], true),
            (format!("garbage {one}"), vec![1], true),
            (format!("{{\"n\":3}}{one}"), vec![1], true),
            (one.replace("b\"", "\\ud83d\""), vec![1], false),
            (format!("\0{}", one.replace("b\"", "\\ud83d\"")), vec![1], false),
            ("no JSON".to_owned(), vec![], true),
            (one[..one.len() - 1].to_owned(), vec![], true),
            ("\0\0\0".to_owned(), vec![], false),
            (String::new(), vec![], false),
        ] {
            assert_eq!(read(&line), (numbers, is_torn), "{line:?}");
        }
        for (line, expected) in [
            (one.to_owned(), true),
            (format!("{}{two}\0", &one[..40]), true),
            (format!("{two}{}", &one[..40]), false),
            (format!("{two} and"), false),
            (one[..40].to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_complete(&line), expected, "{line:?}");
        }
        assert_eq!(records("[7]", has_type).whole, [json!([7])], "one JSON text is one record, whatever it is");
    }

    #[test]
    fn a_hostile_line_takes_no_longer_than_a_few_passes() {
        for line in ["{\"a\":".repeat(400_000), format!("x{}", "{\"a\":\"".repeat(300_000)), "{ ".repeat(800_000)] {
            let began = Instant::now();
            assert!(records(&line, has_type).whole.is_empty());
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        }
    }

    proptest! {
        #[test]
        fn whole_records_are_found_between_anything(
            texts in proptest::collection::vec(any::<String>(), 1..4),
            cut in 1_usize..30,
        ) {
            let records: Vec<String> =
                texts.iter().zip(0..).map(|(text, n)| json!({ "type": "user", "text": text, "n": n }).to_string()).collect();
            let numbers: Vec<u64> = (0..).take(records.len()).collect();
            prop_assert_eq!(read(&records.concat()), (numbers.clone(), false));
            let torn = json!({ "type": "user", "n": 77, "text": "torn" }).to_string();
            let line: String = records.iter().map(|record| format!("{}{record}", &torn[..cut])).collect();
            prop_assert_eq!(read(&line).0, numbers);
        }
    }
}
