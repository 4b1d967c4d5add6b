//! Validates the rows of the database, which any member of the space may have written, like input from a network. An
//! invalid row is left out and logged, and does not affect other rows.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::SharedError;

/// The largest revision: a whole number that every JSON reader represents exactly.
pub const LARGEST_REVISION: u64 = (1 << 53) - 1;

/// The maximum length in chars of the name of a host, a session, an agent or a tool.
const NAME: usize = 500;

/// The latest valid time, in Unix seconds: the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// The maximum number of left-out rows that are remembered.
const REMEMBERED: usize = 20;

/// Returns a time in Unix seconds. An invalid one becomes the nearest valid time; NaN becomes 0.
pub(crate) fn seconds(time: f64) -> f64 {
    if time.is_nan() { 0.0 } else { time.clamp(0.0, LATEST) }
}

/// Returns a name in one line.
pub(crate) fn name(name: String) -> String {
    let is_plain = name.len() <= NAME && !name.chars().any(char::is_control);
    if is_plain { name } else { name.chars().take(NAME).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect() }
}

/// Validates a revision.
pub(crate) fn revision(number: i64) -> Result<u64, SharedError> {
    let revision = u64::try_from(number).ok().filter(|revision| *revision <= LARGEST_REVISION);
    revision.ok_or_else(|| SharedError::Refused(format!("a change has the revision {number}, which none can have")))
}

/// Parses the entries of a store, as JSON. Returns `None` if they are no list of texts, or too long to be read.
pub(crate) fn entries(json: Option<&str>) -> Option<Vec<String>> {
    serde_json::from_str(json?).ok()
}

/// The rows that were left out. Each is logged once.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(Mutex<BTreeSet<String>>);

impl LeftOut {
    /// Returns the valid rows, and notes the errors of the others.
    pub(crate) fn sift<T>(&self, rows: impl Iterator<Item = Result<T, SharedError>>) -> Vec<T> {
        let taken = |row: Result<T, SharedError>| row.map_err(|error| self.note(error.to_string())).ok();
        rows.filter_map(taken).collect()
    }

    /// Remembers the problem of a row.
    pub(crate) fn note(&self, words: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < REMEMBERED && !known.contains(&words) {
            tracing::warn!("a row of the shared database is left out: {words}");
            known.insert(words);
        }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_says_is_a_time_a_name_a_revision_or_entries() {
        for (said, is) in [(f64::NAN, 0.0), (f64::INFINITY, LATEST), (-1.0, 0.0), (1.5, 1.5)] {
            assert_eq!(seconds(said).to_bits(), is.to_bits(), "{said}");
        }
        assert_eq!(name("host-1".into()), "host-1");
        assert_eq!(name("\u{1b}[2Jx\n".into()), "\u{fffd}[2Jx\u{fffd}");
        assert_eq!(name("é".repeat(9_000)).chars().count(), NAME);
        assert_eq!(revision(7).ok(), Some(7));
        assert!(revision(i64::MAX).is_err() && revision(-1).is_err());
        assert_eq!(entries(Some(r#"["a"]"#)), Some(vec!["a".to_owned()]));
        assert!([None, Some("[1,null]"), Some("{}"), Some("[")].into_iter().all(|json| entries(json).is_none()));
    }

    #[test]
    fn a_row_that_is_left_out_keeps_no_other_back_and_is_said_once() {
        let left_out = LeftOut::default();
        let rows = || [Ok(1), Err(SharedError::Refused("odd".into())), Ok(3)].into_iter();
        assert_eq!((left_out.sift(rows()), left_out.sift(rows())), (vec![1, 3], vec![1, 3]));
        assert_eq!(left_out.all().len(), 1);
        (0..100).for_each(|at| left_out.note(at.to_string()));
        assert_eq!(left_out.all().len(), REMEMBERED);
    }
}
