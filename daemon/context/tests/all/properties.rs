//! Invariants of every list, however strange.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::compressor::{plan, prepare};
use herma_context::engine::{ArchiveNote, CompressRequest, EngineState, Gain, PlanRequest, Removed, Slot, Summary};
use herma_context::{Host, Message, RawSettings, Settings, boundary, constraints, handoff, pairs, tokens};
use proptest::prelude::*;
use serde_json::{Value, json};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-zé ]{1,40}",
        (1_usize..1_500).prop_map(|n| "long text ".repeat(n / 10 + 1)),
        Just(handoff::with_frame("## Goal\nan older record")),
        Just(format!("{}\n\nand my own words", handoff::with_frame("older"))),
        Just("error: failed at /tmp/x \u{0} \"quoted\" \\ ".to_owned()),
        (0_usize..9).prop_map(|n| format!("Never touch file {n}. Please look at #{n}00 and https://x.example/{n}.")),
        Just("You may now touch file 3 again.".to_owned()),
        Just("Next task: something else. Don't push yet.".to_owned()),
        Just(handoff::with_frame(
            "record\n\n## Exact References\nPaths:\n/old/path\n\n## Earlier User Messages (verbatim)\n- an old ask\n(and 3 more user messages)\n\n## Standing Constraints\n- Never an old thing.\n\n## Archived Messages\nThe 3 messages that this record replaces are kept word for word in the archive, under the handle cmp_old."
        )),
        "(\\{\"a\": \"|\\\\n|#[0-9]{2}|/a/b|`x y`|é|\\\\|\"|, ){0,40}",
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => text().prop_map(Value::from),
        1 => Just(json!(null)),
        1 => text().prop_map(|t| json!([{"type": "text", "text": t}, {"type": "image_url", "image_url": {"url": "data:AAAA"}}, "bare"])),
        1 => text().prop_map(|t| json!({"_multimodal": true, "text_summary": t, "content": [{"type": "image"}]})),
    ]
}

fn id() -> impl Strategy<Value = String> {
    "[ab][0-3]"
}

fn message() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => content().prop_map(|c| json!({"role": "user", "content": c})),
        4 => content().prop_map(|c| json!({"role": "assistant", "content": c})),
        4 => (content(), prop::collection::vec(id(), 1..4)).prop_map(|(c, ids)| {
            let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "function": {"name": "terminal", "arguments": "{\"command\": \"ls\"}"}})).collect();
            json!({"role": "assistant", "content": c, "tool_calls": calls})
        }),
        6 => (id(), content()).prop_map(|(id, c)| json!({"role": "tool", "tool_call_id": id, "content": c})),
        1 => content().prop_map(|c| json!({"role": "system", "content": c})),
        1 => prop_oneof![Just(json!("bare")), Just(json!(7)), Just(json!({})), Just(json!([1, {"role": "user"}])),
            Just(json!({"role": 5, "content": 5, "tool_calls": "x", "tool_call_id": []})),
            Just(json!({"role": "assistant", "tool_calls": [null, 1, {"id": 5, "function": []}]}))],
    ]
}

/// Returns a call with its result. Later calls use the same names, so many messages refer to it.
fn exchange() -> impl Strategy<Value = Vec<Value>> {
    let names = |of: usize| format!("ab_{of} cd_{of} ef_{of} gh_{of} ij_{of}");
    (0_usize..4, 0_usize..9).prop_map(move |(of, other)| {
        let arguments = json!({ "of": names(of) }).to_string();
        let call = json!({"id": format!("x{other}"), "function": {"name": "look", "arguments": arguments}});
        vec![
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": format!("x{other}"), "content": names(other)}),
        ]
    })
}

fn turn() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![3 => message().prop_map(|message| vec![message]), 1 => exchange()]
}

prop_compose! {
    fn list()(values in prop::collection::vec(turn(), 0..60), system in any::<bool>()) -> Vec<Message> {
        let head = system.then(|| json!({"role": "system", "content": "be good"}));
        let values: Vec<Value> = values.concat();
        head.iter().chain(&values).map(|v| Message::parse(v.to_string()).unwrap()).collect()
    }
}

prop_compose! {
    fn settings()(window in prop_oneof![1_u64..50, 500_u64..5_000, Just(200_000)], first in 0_usize..5, last in 0_usize..25) -> Settings {
        let raw = RawSettings { context_length: window, protect_first_n: Some(first), protect_last_n: Some(last), ..RawSettings::default() };
        raw.check().unwrap()
    }
}

prop_compose! {
    fn host()(merged in any::<bool>(), calls in any::<bool>(), results in any::<bool>(), fewer in 0_usize..4) -> Host {
        Host { takes_merged_handoff: merged, takes_short_calls: calls, takes_short_results: results, fewer_messages: fewer }
    }
}

/// Whether calls and results of a list are valid for any provider.
fn paired(list: &[Message]) -> bool {
    let pairing = pairs::pairing(list);
    pairing.orphans.is_empty() && pairing.unanswered.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_compression_is_sound(list in list(), settings in settings()) {
        let state = EngineState::default();
        let request = CompressRequest::default();
        let Ok(prepared) = prepare(&list, &settings, &state, &request) else { return Ok(()) };
        let body = prepared.extractive_summary(None);
        let nothing_new = prepared.turns().next().is_none();
        prop_assert!(nothing_new || prepared.request().prompt.contains("TURNS TO"));
        let has_handoff = prepared.needs_summary();
        let (start, dropped) = (prepared.middle().start, prepared.dropped());
        let note = ArchiveNote { handle: "h".to_owned(), messages: dropped };
        let done = prepared.finish(Summary { body: body.clone(), ..Summary::default() }, note.clone());
        let new: Vec<Message> = done.messages(&list).cloned().collect();

        prop_assert!(paired(&new), "calls and results pair up");
        let summaries = new.iter().filter(|m| m.is_summary()).count();
        prop_assert_eq!(summaries, usize::from(has_handoff));
        let handoff_at = new.iter().position(Message::is_summary).unwrap_or(0);
        if let Some(last) = boundary::last_user(&list, start) {
            let raw = list[last].raw();
            let value: Value = serde_json::from_str(raw).unwrap();
            let content = value["content"].to_string();
            // A handoff before the words does not count as theirs.
            let text = list[last].text().into_owned();
            let own = handoff::split(&text).map_or(text, |parts| parts.rest);
            let survives = new.iter().skip(handoff_at).any(|m| {
                m.raw() == raw || m.raw().contains(&content) || m.text().contains(own.trim()) || m.text().contains("stripped after compression")
            });
            prop_assert!(survives, "the user's last message comes after the handoff");
        }
        if !has_handoff {
            prop_assert_eq!(dropped, 0);
            prop_assert!(done.removed.iter().all(|one| matches!(one, Removed::Replaced(_))) || !paired(&list));
        } else if new[handoff_at].role().as_str() == "assistant" || new[handoff_at].role().as_str() == "user" {
            for (a, b) in [(handoff_at.wrapping_sub(1), handoff_at), (handoff_at, handoff_at + 1)] {
                let (Some(x), Some(y)) = (new.get(a), new.get(b)) else { continue };
                let same = x.role() == y.role();
                let merged = done.slots.iter().any(|s| matches!(s, Slot::Replaced { message, .. } if message.is_summary()));
                prop_assert!(!same || merged, "a standalone handoff has another role than its neighbours");
            }
        }
        let mut seen = vec![false; list.len()];
        let mut last_index = None;
        for slot in &done.slots {
            let (Slot::Kept(index) | Slot::Replaced { index, .. }) = slot else { continue };
            prop_assert!(last_index < Some(*index), "the order is that of the input");
            last_index = Some(*index);
            seen[*index] = matches!(slot, Slot::Kept(_));
        }
        for scored in &done.verbatim {
            prop_assert!(seen[scored.index], "what stays word for word is the same message");
        }
        let is_verbatim = |at: usize| done.verbatim.iter().any(|scored| scored.index == at);
        for pair in done.slots.windows(2) {
            let (Slot::Kept(one), Slot::Kept(other)) = (&pair[0], &pair[1]) else { continue };
            if other - one > 1 && (is_verbatim(*one) || is_verbatim(*other)) {
                let roles = (list[*one].role().as_str(), list[*other].role().as_str());
                prop_assert!(roles.0 != roles.1 && roles != ("tool", "user"), "{:?}", roles);
            }
        }
        let removed: Vec<usize> = done.removed.iter().map(|r: &Removed| r.index()).collect();
        let missing: Vec<usize> = (0..list.len()).filter(|&at| !seen[at]).collect();
        prop_assert_eq!(removed, missing, "what is not kept byte for byte is named as removed");

        let again = prepare(&list, &settings, &state, &request).ok().unwrap();
        prop_assert_eq!(again.extractive_summary(None), body.clone());
        let again = again.finish(Summary { body, ..Summary::default() }, note);
        prop_assert_eq!(again.messages(&list).map(Message::raw).collect::<Vec<_>>(), new.iter().map(Message::raw).collect::<Vec<_>>());
        prop_assert_eq!(again.state, done.state);
    }

    #[test]
    fn a_host_gets_what_it_takes(list in list(), settings in settings(), host in host(), target in prop::option::of(1_u64..20_000)) {
        let settings = settings.hosted_by(host).aimed_at(target);
        let Ok(prepared) = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()) else { return Ok(()) };
        let (body, has_handoff) = (prepared.extractive_summary(None), prepared.needs_summary());
        let done = prepared.finish(Summary { body, ..Summary::default() }, ArchiveNote { handle: "h".to_owned(), messages: 1 });
        let new: Vec<Message> = done.messages(&list).cloned().collect();
        prop_assert!(paired(&new), "calls and results pair up");
        prop_assert!(new.len() + host.fewer_messages <= list.len() || host.fewer_messages == 0, "{} of {} messages", new.len(), list.len());
        for slot in &done.slots {
            let Slot::Replaced { index, message } = slot else { continue };
            let old = &list[*index];
            prop_assert!(host.takes_merged_handoff || !message.is_summary() || old.is_summary(), "a merged handoff");
            let takes = match old.role().as_str() {
                "tool" => host.takes_short_results,
                // An earlier handoff may be in front of its text.
                "assistant" => host.takes_short_calls || handoff::is_handoff(old) || message.is_summary(),
                _ => true,
            };
            prop_assert!(takes, "{} became {}", old.raw(), message.raw());
        }
        if has_handoff && !host.takes_merged_handoff {
            let alone = done.slots.iter().filter(|slot| matches!(slot, Slot::Inserted(message) if message.is_summary() && message.role().as_str() == "user"));
            prop_assert_eq!(alone.count(), 1);
        }
    }

    #[test]
    fn with_a_gain_required_no_list_grows(list in list(), settings in settings(), body in text()) {
        let request = CompressRequest { gain: Gain::Required, ..CompressRequest::default() };
        let before = tokens::estimate_messages(&list);
        for own in [false, true] {
            let Ok(prepared) = prepare(&list, &settings, &EngineState::default(), &request) else { return Ok(()) };
            let body = if own { body.repeat(20) } else { prepared.extractive_summary(None) };
            let note = ArchiveNote { handle: "h".to_owned(), messages: prepared.dropped() };
            let done = prepared.finish(Summary { body, ..Summary::default() }, note);
            let after = tokens::estimate_messages(done.messages(&list));
            prop_assert!(after <= before, "{} to {}", before, after);
        }
    }

    #[test]
    fn no_rule_is_lost_and_known_ones_change_once(list in list(), settings in settings()) {
        let found = constraints::update(&[], &list, 1.0).constraints;
        let again = constraints::update(&found, &list, 2.0);
        prop_assert_eq!(&again.constraints.iter().map(|rule| &rule.id).collect::<Vec<_>>(), &found.iter().map(|rule| &rule.id).collect::<Vec<_>>());
        let Ok(prepared) = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()) else { return Ok(()) };
        let rules = prepared.constraints().constraints.clone();
        for rule in &found {
            prop_assert!(rules.iter().any(|known| known.id == rule.id));
        }
        let body = prepared.extractive_summary(None);
        let done = prepared.finish(Summary { body, ..Summary::default() }, ArchiveNote { handle: "h".to_owned(), messages: 1 });
        let active = rules.iter().filter(|rule| rule.state == constraints::State::Active);
        for rule in active.take(done.numbers.constraints) {
            prop_assert!(done.numbers.constraints < rules.len() || done.handoff.contains(&rule.text));
        }
    }

    #[test]
    fn a_plan_has_an_answer(list in list(), settings in settings()) {
        let planned = plan(&list, &settings, &PlanRequest::default());
        prop_assert!(planned.start <= list.len() && planned.end <= list.len());
        prop_assert_eq!(planned.messages.len(), list.len());
        prop_assert!(planned.prompt.is_none() || planned.start < planned.end);
    }

    #[test]
    fn repeated_compressions_converge(list in list(), settings in settings()) {
        let mut list = list;
        let mut state = EngineState::default();
        for _ in 0..4 {
            let Ok(prepared) = prepare(&list, &settings, &state, &CompressRequest::default()) else { break };
            let body = prepared.extractive_summary(Some("no model"));
            let limit = prepared.handoff_chars();
            let done = prepared.finish(Summary { body, ..Summary::default() }, ArchiveNote { handle: "h".to_owned(), messages: 1 });
            let new: Vec<Message> = done.messages(&list).cloned().collect();
            prop_assert!(limit <= 40_000 && done.handoff.chars().count() <= limit.max(5_000));
            list = new;
            state = done.state;
        }
    }

    #[test]
    fn hostile_text_never_panics(raw in "\\PC{0,60}") {
        if let Ok(message) = Message::parse(raw) {
            let _tokens = tokens::estimate_messages([&message]);
            let _text = message.text().into_owned();
        }
    }
}
