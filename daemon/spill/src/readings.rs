//! Texts that were given out: they are not spilled when they come back.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// How many texts are remembered; the oldest is forgotten first.
const TEXTS: usize = 4_096;

/// Shortest text in chars that is evidence of an answer: shorter ones are in anything.
const EVIDENCE: usize = 200;

/// Share of an answer in percent that its known texts have at least, as they are written
/// in it: what else it has is little.
const SHARE: usize = 80;

type Fingerprint = [u8; 32];

/// Fingerprints of the texts that were given out last.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    order: VecDeque<(usize, Fingerprint)>,
    known: HashSet<Fingerprint>,
    /// How many have so many bytes: a text of no known length needs no hash.
    lengths: HashMap<usize, usize>,
}

/// A tool result that is the JSON of an answer.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    items: Option<Vec<Item<'a>>>,
    #[serde(borrow, default)]
    matches: Option<Vec<Item<'a>>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Readings {
    /// Remembers a text that was given out.
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

    /// Whether a content is a text that was given out, or the JSON of an answer that is
    /// for the most part made of such texts.
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
        let items = [answer.items, answer.matches].into_iter().flatten().flatten().map(|item| item.text);
        let is_evidence = |text: &Text<'_>| text.0.chars().nth(EVIDENCE - 1).is_some() && self.knows(&text.0);
        let is_ascii = content.is_ascii();
        let known = answer.text.into_iter().chain(items).filter(is_evidence);
        let known: usize = known.map(|text| written_length(&text.0, is_ascii)).sum();
        known.saturating_mul(100) >= content.len().saturating_mul(SHARE)
    }

    fn knows(&self, text: &str) -> bool {
        let has_length = self.state.lock().unwrap_or_else(PoisonError::into_inner).lengths.contains_key(&text.len());
        has_length && {
            let fingerprint: Fingerprint = Sha256::digest(text).into();
            self.state.lock().unwrap_or_else(PoisonError::into_inner).known.contains(&fingerprint)
        }
    }
}

/// Bytes of a text within a JSON string; in one of ASCII only, all other chars are escaped.
fn written_length(text: &str, is_ascii: bool) -> usize {
    text.chars()
        .map(|char| match char {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ if is_ascii && !char.is_ascii() => 6 * char.len_utf16(),
            _ => char.len_utf8(),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a read past the end, whose text is empty, any object with an empty text was
    /// taken for an answer and stayed whole in the conversation.
    #[test]
    fn a_known_text_in_it_makes_no_large_result_an_answer() {
        let readings = Readings::default();
        let page = "é\"\\\n\u{1}😀".repeat(100);
        readings.gave("");
        readings.gave(&page);
        let short = "y".repeat(199);
        readings.gave(&short);
        let text = serde_json::json!(page);
        let ascii: String = text.to_string().replace('é', "\\u00e9").replace('😀', "\\ud83d\\ude00");
        for (content, expected) in [
            (format!(r#"{{"text":"{short}"}}"#), false),
            (format!(r#"{{"text":"","html":"{}"}}"#, "x".repeat(400_000)), false),
            (format!(r#"{{"items":[{{"text":""}}],"html":"{}"}}"#, "x".repeat(400)), false),
            (format!(r#"{{"text":{text},"html":"{}"}}"#, "x".repeat(page.len())), false),
            (format!(r#"{{"text":{text},"handle":"out_0"}}"#), true),
            (format!(r#"{{"text":{ascii},"handle":"out_0"}}"#), true),
            (format!(r#"{{"matches":[{{"text":{text}}},{{"text":{text}}}],"text":"x"}}"#), true),
        ] {
            assert_eq!(readings.is_reading(&content), expected, "{content}");
        }
    }

    #[test]
    fn what_was_given_out_is_known_as_text_and_as_answer() {
        let page = "a \"page\"\n".repeat(40);
        let written = page.replace('"', "\\\"").replace('\n', "\\n");
        let readings = Readings::default();
        assert!(!readings.is_reading(&page));
        readings.gave(&page);
        readings.gave("b");
        for (content, expected) in [
            (&*page, true),
            (&format!(r#"{{"next":{{"line":3}},"text":"{written}"}}"#), true),
            (r#" {"text":"other"}"#, false),
            (r#" {"text":"b"}"#, false),
            (&format!(r#"{{"items":[{{"text":"b"}},{{"text":"{written}","line":1}}]}}"#), true),
            (r#"{"matches":[{"text":"b"},{"text":"c"}]}"#, false),
            (r#"{"matches":[]}"#, false),
            (r#"["b"]"#, false),
            ("c", false),
        ] {
            assert_eq!(readings.is_reading(content), expected, "{content}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let readings = Readings::default();
        for number in 0..=TEXTS {
            readings.gave(&number.to_string());
        }
        assert!(!readings.is_reading("0") && readings.is_reading("1") && readings.is_reading(&TEXTS.to_string()));
    }
}
