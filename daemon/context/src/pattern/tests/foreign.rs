//! Tests the crate's patterns on texts from other sources.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use regex::Regex;

use crate::Message;
use crate::engine::{ArchiveNote, CompressRequest, EngineState, Summary};
use crate::pattern::classes::with_small_classes;
use crate::pattern::pattern;
use crate::testing::settings;

/// Messages of programs in eighteen languages, one per line.
const SENTENCES: &str = include_str!("../../../tests/fixtures/messages.txt");
/// Conversations of a service desk, one per line.
const DESK: &str = include_str!("../../../tests/fixtures/airline.jsonl");

/// The sources of all compiled patterns.
static SOURCES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Records that a pattern was compiled.
pub(in crate::pattern) fn note(source: &str) {
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned());
}

/// Compiles all patterns that a compression and its checks use.
fn use_all() {
    let said = |text: &str| serde_json::json!({"role": "user", "content": text}).to_string();
    let ran = |text: &str| serde_json::json!({"role": "assistant", "content": text}).to_string();
    let sentences = SENTENCES.lines().chain(DESK.lines().take(3));
    let texts = sentences.flat_map(|text| [said(text), ran(text)]).collect();
    let messages = Message::all_of_json(texts);
    let prepared = crate::compressor::prepare(
        &messages,
        &settings(20_000, 3, 20),
        &EngineState::default(),
        &CompressRequest::default(),
    )
    .unwrap_or_else(|declined| panic!("{declined:?}"));
    let body = prepared.extractive_summary(None);
    let note = ArchiveNote { handle: "c1".into(), messages: messages.len() };
    drop(prepared.finish(Summary { body, ..Summary::default() }, note));
}

#[test]
fn each_pattern_finds_in_any_language_what_the_crate_regex_finds() {
    use_all();
    let sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for words in ["niemals", "entschieden", "traceback", "cargo"] {
        assert!(sources.iter().any(|source| source.contains(words)), "no pattern with {words} was used");
    }
    for source in sources {
        let (own, other) = (pattern(&source), Regex::new(&with_small_classes(&source)).unwrap());
        // Most are searched line by line, and some also as one text.
        let together = &SENTENCES[..SENTENCES.floor_char_boundary(8_192)];
        for text in SENTENCES.lines().chain(DESK.lines()).chain([together]) {
            let found: Vec<_> = own.find_iter(text).map(|found| found.range()).collect();
            let expected: Vec<_> = other.find_iter(text).map(|found| found.range()).collect();
            assert_eq!(found, expected, "{source}\n{text}");
        }
    }
}
