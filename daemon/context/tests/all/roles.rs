//! If people and the model take turns in a list, they still do so after every operation.
#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

use std::ops::Range;

use herma_context::engine::{CompressRequest, EngineState, Summary};
use herma_context::fingerprint::Fingerprint;
use herma_context::opened::{self, Marks, OpenedPart};
use herma_context::pins::Pins;
use herma_context::wishes::MessageRequests;
use herma_context::{Engine, Message, RawSettings, Settings, handoff, pairs};
use proptest::prelude::*;
use serde_json::json;

/// One turn: how long its question is, how many calls it has, and how long its answer is.
type Turn = (usize, usize, usize);

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec((1_usize..40, 0_usize..3, 1_usize..60), 6..40)
}

fn conversation(turns: &[Turn], mark: &str) -> Vec<Message> {
    let mut list = Vec::new();
    for (at, (question, calls, answer)) in turns.iter().enumerate() {
        list.push(json!({ "role": "user", "content": format!("question {mark}{at} {}", "word ".repeat(*question)) }));
        for call in 0..*calls {
            let id = format!("call_{mark}{at}_{call}");
            let function = json!({ "name": "read", "arguments": json!({ "path": format!("/srv/{id}") }).to_string() });
            list.push(
                json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "function": function }] }),
            );
            list.push(json!({ "role": "tool", "tool_call_id": id, "content": format!("result {id} {}", "line ".repeat(*answer)) }));
        }
        list.push(json!({ "role": "assistant", "content": format!("answer {mark}{at} {}", "word ".repeat(*answer)) }));
    }
    list.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

/// Returns where two messages of one side follow each other, or a user message directly follows results; a
/// handoff may.
fn meetings(list: &[Message]) -> Vec<String> {
    let shown = |message: &Message| format!("{} {:.60}", message.role().as_str(), message.text());
    let meet = |pair: &&[Message]| {
        let roles = (pair[0].role().as_str(), pair[1].role().as_str());
        let is_handoff = handoff::is_handoff(&pair[1]);
        matches!(roles, ("user", "user") | ("assistant", "assistant")) || (roles == ("tool", "user") && !is_handoff)
    };
    let meet = list.windows(2).enumerate().filter(|(_, pair)| meet(pair));
    meet.map(|(at, pair)| format!("{at}: {} | {}", shown(&pair[0]), shown(&pair[1]))).collect()
}

fn settings(engine: Engine) -> Settings {
    RawSettings { context_length: 6_000, engine, ..RawSettings::default() }.check().unwrap()
}

/// A list and its engine's state.
struct Session {
    list: Vec<Message>,
    state: EngineState,
    settings: Settings,
    /// The messages that left in the last compression.
    left: Vec<(usize, Message)>,
}

impl Session {
    fn compress(&mut self, range: Option<Range<usize>>, pins: &Pins) -> bool {
        let wishes = MessageRequests { pins: pins.clone(), ..MessageRequests::default() };
        let request = CompressRequest { range, wishes, ..CompressRequest::default() };
        let prepared = self.settings.engine.prepare(&self.list, &self.settings, &self.state, &request, drop);
        let Ok(mut prepared) = prepared else { return false };
        prepared.write_summary(&herma_guard::Policy::default());
        let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
        let done = prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None);
        self.left = done.removed.iter().map(|removed| (removed.index(), self.list[removed.index()].clone())).collect();
        self.list = done.messages(&self.list).cloned().collect();
        self.state = done.state;
        true
    }
}

fn engine() -> impl Strategy<Value = Engine> {
    prop_oneof![Just(Engine::Compressor), Just(Engine::Lossless)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sides_take_turns_after_whole_runs_ranges_and_pins(
        turns in turns(),
        engine in engine(),
        steps in prop::collection::vec((0_u8..3, 0.0..1.0_f64, 0.0..1.0_f64), 1..6),
        pinned in prop::collection::vec(0.0..1.0_f64, 0..5),
    ) {
        let list = conversation(&turns, "");
        prop_assert_eq!(meetings(&list), Vec::<String>::new());
        let place = |share: f64, length: usize| ((share * length as f64) as usize).min(length.saturating_sub(1));
        let pins: Pins = pinned.iter().map(|share| Fingerprint::of(&list[place(*share, list.len())])).collect();
        let mut session = Session { list, state: EngineState::default(), settings: settings(engine), left: Vec::new() };
        for (step, (kind, one, other)) in steps.iter().enumerate() {
            match kind {
                0 => drop(session.compress(None, &Pins::default())),
                1 => drop(session.compress(None, &pins)),
                _ => {
                    let (one, other) = (place(*one, session.list.len()), place(*other, session.list.len()));
                    let range = one.min(other)..one.max(other) + 1;
                    session.compress(Some(range), &if step % 2 == 0 { pins.clone() } else { Pins::default() });
                }
            }
            prop_assert_eq!(meetings(&session.list), Vec::<String>::new(), "step {}", step);
            let pairing = pairs::pairing(&session.list);
            prop_assert!(pairing.orphans.is_empty() && pairing.unanswered.is_empty());
            session.list.extend(conversation(&turns, &format!("{step}.")).into_iter().take(if step % 2 == 0 { 0 } else { usize::MAX }));
        }
    }

    #[test]
    fn sides_take_turns_where_a_part_is_opened(turns in turns(), engine in engine(), pinned in prop::collection::vec(0.0..1.0_f64, 0..4), one in 0.0..1.0_f64, other in 0.0..1.0_f64) {
        let list = conversation(&turns, "");
        let pins: Pins = pinned.iter().map(|share| Fingerprint::of(&list[(share * (list.len() - 1) as f64) as usize])).collect();
        let mut session = Session { list, state: EngineState::default(), settings: settings(engine), left: Vec::new() };
        if !session.compress(None, &pins) || session.left.is_empty() {
            return Ok(());
        }
        // A node has messages that left, in order; messages that stayed between them are not in it.
        let place = |share: f64| (share * (session.left.len() - 1) as f64) as usize;
        let (from, to) = (place(one).min(place(other)), place(one).max(place(other)) + 1);
        let messages: Vec<Message> = session.left[from..to].iter().map(|(_, message)| message.clone()).collect();
        let Some(at) = opened::place(&session.list, 0, &[]) else { return Ok(()) };
        let before = at.checked_sub(1).and_then(|before| session.list.get(before));
        let marks = Marks::between(before, &messages, session.list.get(at));
        let gaps = (from + 1..to).filter(|&at| session.left[at].0 != session.left[at - 1].0 + 1).map(|at| at - from).collect();
        let part = OpenedPart { id: "nod_1".into(), numbers: 0..messages.len() as u64, messages, gaps, marks };
        let whole = opened::with_parts(&session.list, std::slice::from_ref(&part));
        prop_assert_eq!(meetings(&whole), Vec::<String>::new());
        let found = opened::find(&whole, std::slice::from_ref(&part));
        prop_assert_eq!(found.len(), 1);
        let range = found[0].1.clone();
        let without: Vec<&Message> = whole.iter().enumerate().filter(|(at, _)| !range.contains(at)).map(|(_, message)| message).collect();
        prop_assert_eq!(without, session.list.iter().collect::<Vec<_>>());
    }
}
