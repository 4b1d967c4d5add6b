//! Texts that were returned to an agent. They are not spilled when they come back.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The maximum number of remembered texts; the oldest is forgotten first.
const TEXTS: usize = 4_096;

/// Bytes that the JSON of an answer may have in addition to each returned text. With more, it is another content that
/// quotes the text.
const BESIDE: usize = 1_024;

type Fingerprint = [u8; 32];

/// Fingerprints of the texts that were returned last.
#[derive(Debug, Default)]
pub(crate) struct ReturnedTexts {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    order: VecDeque<(usize, Fingerprint)>,
    known: HashSet<Fingerprint>,
    /// The number of known texts of each length in bytes: a text of another length need not be hashed.
    lengths: HashMap<usize, usize>,
}

/// A tool result that is the JSON of an answer of herma.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    items: Option<Vec<Item<'a>>>,
    #[serde(borrow, default)]
    matches: Option<Vec<Item<'a>>>,
}

/// One text of an answer, and the fields that come with it.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    before: Option<&'a RawValue>,
    #[serde(borrow, default)]
    after: Option<&'a RawValue>,
}

impl Item<'_> {
    /// Returns the bytes that belong to the text.
    fn length(&self) -> usize {
        let beside = [self.message, self.before, self.after].into_iter().flatten();
        BESIDE + self.text.get().len() + beside.map(|value| value.get().len()).sum::<usize>()
    }
}

impl ReturnedTexts {
    /// Remembers a text that was returned to an agent.
    pub(crate) fn gave(&self, text: &str) {
        let fingerprint: Fingerprint = Sha256::digest(text).into();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.known.insert(fingerprint) {
            return;
        }
        state.order.push_back((text.len(), fingerprint));
        *state.lengths.entry(text.len()).or_default() += 1;
        if state.order.len() > TEXTS
            && let Some((length, oldest)) = state.order.pop_front()
        {
            state.known.remove(&oldest);
            if let Some(count) = state.lengths.get_mut(&length) {
                *count -= 1;
                if *count == 0 {
                    state.lengths.remove(&length);
                }
            }
        }
    }

    /// Whether a content is a text that was returned, or the JSON of an answer whose texts were.
    pub(crate) fn is_reading(&self, content: &str) -> bool {
        if self.state.lock().unwrap_or_else(PoisonError::into_inner).order.is_empty() {
            return false;
        }
        if self.knows(content) {
            return true;
        }
        if !content.trim_start().starts_with('{') || memchr::memmem::find(content.as_bytes(), b"\"text\"").is_none() {
            return false;
        }
        let Ok(answer) = serde_json::from_str::<Answer<'_>>(content) else { return false };
        let is_all = |length: usize| content.len() <= length + BESIDE;
        let all_known = |items: Option<Vec<Item<'_>>>| match items {
            Some(items) => {
                !items.is_empty()
                    && is_all(items.iter().map(Item::length).sum())
                    && items.iter().all(|item| self.knows_json(item.text))
            }
            None => false,
        };
        answer.text.is_some_and(|text| is_all(text.get().len()) && self.knows_json(text))
            || all_known(answer.items)
            || all_known(answer.matches)
    }

    fn knows_json(&self, text: &RawValue) -> bool {
        serde_json::from_str::<String>(text.get()).is_ok_and(|text| self.knows(&text))
    }

    fn knows(&self, text: &str) -> bool {
        let has_length = self.state.lock().unwrap_or_else(PoisonError::into_inner).lengths.contains_key(&text.len());
        has_length && {
            let fingerprint: Fingerprint = Sha256::digest(text).into();
            self.state.lock().unwrap_or_else(PoisonError::into_inner).known.contains(&fingerprint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_out_is_known_as_text_and_as_answer() {
        let readings = ReturnedTexts::default();
        assert!(!readings.is_reading("a \"page\"\n"));
        readings.gave("a \"page\"\n");
        readings.gave("b");
        for (content, expected) in [
            ("a \"page\"\n", true),
            (r#"{"next":{"line":3},"text":"a \"page\"\n"}"#, true),
            (r#" {"text":"other"}"#, false),
            (r#"{"items":[{"text":"b"},{"text":"a \"page\"\n","line":1}]}"#, true),
            (r#"{"matches":[{"text":"b"},{"text":"c"}]}"#, false),
            (r#"{"matches":[]}"#, false),
            (r#"["b"]"#, false),
            (&format!(r#"{{"text":"b","more":"{}"}}"#, "x".repeat(BESIDE)), false),
            (&format!(r#"{{"items":[{{"text":"b"}}],"more":"{}"}}"#, "x".repeat(2 * BESIDE)), false),
            (&format!(r#"{{"matches":[{{"text":"b","after":["{}"]}}]}}"#, "x".repeat(3 * BESIDE)), true),
            ("c", false),
        ] {
            assert_eq!(readings.is_reading(content), expected, "{content}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let readings = ReturnedTexts::default();
        for number in 0..=TEXTS {
            readings.gave(&number.to_string());
        }
        assert!(!readings.is_reading("0") && readings.is_reading("1") && readings.is_reading(&TEXTS.to_string()));
    }
}
