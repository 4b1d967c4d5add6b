//! One long session built from real conversations, compressed repeatedly as it grows.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;

use herma_context::compressor::prepare;
use herma_context::engine::{ArchiveNote, CompressRequest, EngineState, Summary};
use herma_context::{Engine, Message, RawSettings, pairs, tokens};
use serde_json::value::RawValue;

/// Returns the messages of all fixtures, chained.
fn session() -> Vec<Message> {
    let lines = include_str!("../fixtures/airline.jsonl").lines();
    lines
        .flat_map(|line| {
            let mut fields: HashMap<&str, &RawValue> = serde_json::from_str(line).unwrap();
            let list: Vec<&RawValue> = serde_json::from_str(fields.remove("messages").unwrap().get()).unwrap();
            list.into_iter().map(|raw| Message::parse(raw.get()).unwrap()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn a_growing_session_stays_small_and_valid() {
    let settings = RawSettings { context_length: 9_000, ..RawSettings::default() }.check().unwrap();
    let mut list: Vec<Message> = Vec::new();
    let mut state = EngineState::default();
    for message in session() {
        list.push(message);
        if !state.should_compress(&settings, Some(tokens::estimate_messages(&list))) {
            continue;
        }
        let before = tokens::estimate_messages(&list);
        let last = list.last().unwrap().clone();
        let Ok(prepared) = prepare(&list, &settings, &state, &CompressRequest::default()) else { continue };
        let body = prepared.extractive_summary(None);
        assert!(body.contains("## Historical Task Snapshot\nUser asked: '") || body.contains("Unknown:"));
        let note = ArchiveNote { handle: "cmp_1".to_owned(), messages: prepared.dropped() };
        let done = prepared.finish(Summary { body, ..Summary::default() }, note);
        let new: Vec<Message> = done.messages(&list).cloned().collect();
        assert!(tokens::estimate_messages(&new) < before);
        assert_eq!(new.iter().filter(|m| m.is_summary()).count(), 1);
        let pairing = pairs::pairing(&new);
        assert!(pairing.orphans.is_empty() && pairing.unanswered.is_empty());
        assert_eq!(new.last().unwrap().raw(), last.raw());
        list = new;
        state = done.state;
    }
    assert!(state.compression_count >= 2, "{}", state.compression_count);
    let carried = state.previous_summary.unwrap();
    assert!(carried.contains("An earlier summary exists"));
}

#[test]
fn a_recorded_session_ends_below_the_threshold_or_names_its_system_message() {
    let list = session();
    let size = |list: &[Message]| tokens::estimate_messages(list).max(tokens::own_estimate_messages(list));
    for engine in [Engine::Compressor, Engine::Lossless] {
        for window in [2_000, 4_000, 8_000, 12_000] {
            let settings = RawSettings { context_length: window, engine, ..RawSettings::default() }.check().unwrap();
            let request = CompressRequest::default();
            let mut prepared = engine.prepare(&list, &settings, &EngineState::default(), &request, drop).unwrap();
            prepared.write_summary(&herma_guard::Policy::default());
            let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
            let done = prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None);
            let new: Vec<Message> = done.messages(&list).cloned().collect();
            let threshold = settings.budgets().threshold_tokens;
            assert!(size(&list) >= threshold, "{window}");
            // The system message alone is too large for the smallest window.
            let named = done.over.map_or(0, |over| over.parts.iter().map(|part| part.tokens).sum::<u64>());
            assert!(size(&new) < threshold || named >= threshold, "{engine:?} {window}: {}, {named}", size(&new));
            assert_eq!(named > 0, window == 2_000, "{engine:?}");
        }
    }
}
