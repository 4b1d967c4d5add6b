//! Detects what a program writes twice into a file that only grows: records, and after a compaction messages in new
//! records.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

/// How many of a file's first messages stay known. A compaction is most likely to repeat these.
const FIRST: usize = 32;

/// How many of the newest messages stay known.
const NEWEST: usize = 2_000;

/// How many of the newest records stay known while a file is read.
const RECORDS: usize = 100_000;

/// How many of the newest records are saved for the next reader of the file.
const NOTED: usize = 500;

/// The messages and records read so far, to detect repeats. A repeated message keeps the time of the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeats {
    messages: KeySet,
    records: KeySet,
    /// Whether there was a compaction, after which messages may be repeated.
    begun: bool,
}

/// The part of `Repeats` that is saved for the next reader of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedRepeats {
    /// The keys of messages, the oldest first.
    pub messages: Vec<u64>,
    /// Whether messages may have been repeated.
    pub may_repeat: bool,
    /// The keys of records, the oldest first.
    pub records: Vec<u64>,
}

impl Repeats {
    /// Restores the state that [`Self::noted`] returned.
    #[must_use]
    pub fn of(noted: SavedRepeats) -> Self {
        Self { messages: noted.messages.into(), records: noted.records.into(), begun: noted.may_repeat }
    }

    /// Returns the state to save for the next reader.
    #[must_use]
    pub fn noted(&self) -> SavedRepeats {
        SavedRepeats {
            messages: self.messages.newest(usize::MAX),
            may_repeat: self.begun,
            records: self.records.newest(NOTED),
        }
    }

    /// Marks the compaction after which messages may be repeated.
    pub(crate) const fn begin(&mut self) {
        self.begun = true;
    }

    /// Returns whether a message is new, and remembers it.
    pub(crate) fn is_new(&mut self, time: Option<f64>, message: &str) -> bool {
        let time = time.unwrap_or_default().to_bits().to_le_bytes();
        self.messages.insert(key(&[&time, message.as_bytes()]), FIRST, NEWEST) || !self.begun
    }

    /// Returns whether something with a key of its own is new, and remembers it.
    pub(crate) fn is_new_key(&mut self, name: &str) -> bool {
        self.records.insert(key(&[b"key", name.as_bytes()]), 0, RECORDS)
    }

    /// Returns whether a record is new, and remembers it. The key is the record's id, or else its whole text if it has
    /// a time. A record with neither always counts as new.
    pub(crate) fn is_new_record(&mut self, record: &Value) -> bool {
        let field = |name: &str| record.get(name).and_then(Value::as_str);
        let key = match (field("uuid"), field("timestamp")) {
            (Some(id), _) => key(&[b"id", id.as_bytes()]),
            (None, Some(_)) => key(&[record.to_string().as_bytes()]),
            (None, None) => return true,
        };
        self.records.insert(key, 0, RECORDS)
    }
}

/// Keys in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KeySet {
    order: VecDeque<u64>,
    set: HashSet<u64>,
}

impl From<Vec<u64>> for KeySet {
    fn from(order: Vec<u64>) -> Self {
        Self { set: order.iter().copied().collect(), order: order.into() }
    }
}

impl KeySet {
    /// Adds a key and returns whether it is new. If there are too many, the `first` first keys and the `newest` newest
    /// stay.
    fn insert(&mut self, key: u64, first: usize, newest: usize) -> bool {
        if !self.set.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > first + newest
            && let Some(old) = self.order.remove(first)
        {
            self.set.remove(&old);
        }
        true
    }

    fn newest(&self, count: usize) -> Vec<u64> {
        self.order.iter().skip(self.order.len().saturating_sub(count)).copied().collect()
    }
}

/// Hashes with FNV-1a (64 bits), which is the same in every version of the program.
fn key(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_follows_a_compaction_can_be_repeated() {
        let mut repeats = Repeats::default();
        assert!(repeats.is_new(Some(1.0), "a"));
        assert!(repeats.is_new(Some(1.0), "a"));
        repeats.begin();
        let mut later = Repeats::of(repeats.noted());
        for repeats in [&mut repeats, &mut later] {
            assert!(!repeats.is_new(Some(1.0), "a"));
            assert!(repeats.is_new(Some(2.0), "a"));
            assert!(repeats.is_new(Some(1.0), "b"));
        }
    }

    #[test]
    fn the_first_and_the_newest_are_known() {
        let mut repeats = Repeats::default();
        for number in 0..5_000 {
            assert!(repeats.is_new(None, &number.to_string()));
        }
        repeats.begin();
        assert_eq!(repeats.noted().messages.len(), FIRST + NEWEST);
        for (number, is_new) in [(0, false), (31, false), (32, true), (2_000, true), (4_999, false)] {
            assert_eq!(repeats.is_new(None, &number.to_string()), is_new, "{number}");
        }
    }

    #[test]
    fn a_record_is_known_by_its_id_or_by_its_text_with_its_time() {
        let mut repeats = Repeats::default();
        let with_id = |parent: u32| json!({ "uuid": "u", "parentUuid": parent, "timestamp": "t" });
        let with_time = |text: &str| json!({ "timestamp": "t", "payload": { "text": text } });
        let with_neither = json!({ "role": "user", "content": "yes" });
        for (record, is_new) in [
            (with_id(1), true),
            (with_id(2), false),
            (with_time("a"), true),
            (with_time("b"), true),
            (with_time("a"), false),
            (with_neither.clone(), true),
            (with_neither, true),
        ] {
            assert_eq!(repeats.is_new_record(&record), is_new, "{record}");
        }
        let mut later = Repeats::of(repeats.noted());
        assert!(!later.is_new_record(&with_id(3)) && !later.is_new_record(&with_time("b")));
    }
}
