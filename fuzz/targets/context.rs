//! Any list of messages, one JSON value a line: no panic, nothing lost without a
//! trace, and what is kept is kept as it was.

#![no_main]

use herma_context::engine::{CompressRequest, EngineState, Focus, PlanRequest, Slot, Summary, Writer};
use herma_context::{Message, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let messages: Vec<Message> = text.lines().filter_map(|line| Message::parse(line).ok()).collect();
    let Ok(settings) = Settings::of_window(1 + text.len() as u64 % 4096) else { return };
    let request = PlanRequest { focus: Focus::Auto, previous_summary: None, today: None };
    let planned = settings.engine.plan(&messages, &settings, &request);
    assert_eq!(planned.messages.len(), messages.len());
    let request = CompressRequest { focus: Focus::Auto, today: None, ..CompressRequest::default() };
    let state = EngineState::default();
    let Ok(prepared) = settings.engine.prepare(&messages, &settings, &state, &request, |_| ()) else { return };
    let body = prepared.extractive_summary(None);
    let summary = Summary { body, writer: Writer::Extractive, ..Summary::default() };
    let compressed = prepared.finish(summary, "h".into(), &|_, _| None);
    let mut seen = vec![false; messages.len()];
    for slot in &compressed.slots {
        if let Slot::Kept(index) = slot {
            seen[*index] = true;
        }
    }
    for removed in &compressed.removed {
        seen[removed.index()] = true;
    }
    assert!(seen.into_iter().all(|seen| seen));
});
