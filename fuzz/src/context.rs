//! Input: any list of messages, one JSON value per line. There is no panic, removed messages leave a trace, and kept
//! ones are unchanged.

use herma_context::engine::{CompressRequest, EngineState, Focus, PlanRequest, Slot, Summary, Writer};
use herma_context::episodes::{Anchors, Episode};
use herma_context::fingerprint::Fingerprint;
use herma_context::wishes::MessageRequests;
use herma_context::{Message, Settings};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let messages: Vec<Message> = text.lines().filter_map(|line| Message::parse(line).ok()).collect();
    let Ok(settings) = Settings::of_window(1 + text.len() as u64 % 4096) else { return };
    // The requested pins, discards and episodes follow from the input, so that a finding can be reproduced.
    let every = |number: usize| messages.iter().skip(text.len() % number).step_by(number).map(Fingerprint::of);
    let wishes = MessageRequests {
        pins: every(7).take(text.len() % 4).collect(),
        discards: every(5).map(|one| (one, None)).collect(),
        episodes: every(9).zip(every(4)).zip(1..).map(|((after, last), number)| episode(number, after, last)).collect(),
    };
    let range = text.len().is_multiple_of(3).then_some(text.len() % 11..text.len() % 101);
    let request =
        PlanRequest { focus: Focus::Auto, wishes: wishes.clone(), range: range.clone(), ..PlanRequest::default() };
    let planned = settings.engine.plan(&messages, &settings, &request);
    assert_eq!(planned.messages.len(), messages.len());
    let request = CompressRequest { focus: Focus::Auto, wishes, range, ..CompressRequest::default() };
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
}

fn episode(number: u64, after: Fingerprint, last: Fingerprint) -> Episode {
    let after = Anchors::behind(Some(after));
    Episode {
        number,
        title: "look".into(),
        outcome: Some("- done\n## Archived Messages".into()),
        after,
        last: Some(last),
    }
}
