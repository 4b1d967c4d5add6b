//! Compression from end to end, on lists written by hand.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::{
    ArchiveNote, CompressRequest, Compressed, Declined, EngineState, Focus, Message, PlanRequest, RawSettings, Removed,
    Section, SectionKind, Settings, Slot, Summary, Today, compress, constants, handoff, pairs, plan, prepare,
};
use serde_json::{Value, json};

fn settings(window: u64, first: usize, last: usize) -> Settings {
    RawSettings {
        context_length: window,
        protect_first_n: Some(first),
        protect_last_n: Some(last),
        ..RawSettings::default()
    }
    .check()
    .unwrap()
}

fn messages(values: &[Value]) -> Vec<Message> {
    values.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

fn say(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// System, then turns of user and assistant, then a last question.
fn chat(turns: usize) -> Vec<Value> {
    let mut list = vec![say("system", "You are an agent.")];
    for at in 0..turns {
        list.push(say("user", &format!("question {at} {}", "q".repeat(400))));
        list.push(say("assistant", &format!("answer {at} {}", "a".repeat(400))));
    }
    list.push(say("user", "the last question"));
    list
}

fn note() -> ArchiveNote {
    ArchiveNote { handle: "cmp_7".to_owned(), messages: 12 }
}

fn summary(body: &str) -> Summary {
    Summary { body: body.to_owned(), sections: Vec::new() }
}

fn compress_with(list: &[Message], settings: &Settings, state: &EngineState, body: &str) -> Compressed {
    prepare(list, settings, state, &CompressRequest::default()).ok().unwrap().finish(summary(body), note())
}

fn roles(list: &[&Message]) -> String {
    list.iter().map(|m| m.role().as_str().chars().next().unwrap_or('?')).collect()
}

#[test]
fn the_middle_becomes_one_handoff_and_the_rest_stays() {
    let list = messages(&chat(30));
    let before: Vec<String> = list.iter().map(|m| m.raw().to_owned()).collect();
    let done = compress_with(&list, &settings(1_000, 2, 20), &EngineState::default(), "## Goal\nthe record");
    let new: Vec<&Message> = done.messages(&list).collect();
    assert_eq!(roles(&new), "suauauauauau", "head s u a, handoff u, then the eight of the tail");
    assert!(new[0].text().ends_with(compress::SYSTEM_NOTE));
    assert_eq!(new.iter().filter(|m| m.is_summary()).count(), 1);
    let handoff = new.iter().find(|m| m.is_summary()).unwrap().text();
    assert!(handoff.starts_with(constants::PREFIX));
    assert!(handoff.contains("\n## Goal\nthe record\n\n## Earlier User Messages (verbatim)\n- question "));
    assert!(handoff.contains("\n\n## Archived Messages\nThe "));
    assert!(handoff.contains("cmp_7") && handoff.ends_with(constants::END_MARKER));
    assert_eq!(new.last().unwrap().text(), "the last question");
    assert_eq!(done.state.previous_summary.as_deref(), Some("## Goal\nthe record"));
    assert_eq!(done.state.compression_count, 1);
    assert!(done.numbers.savings_pct > 10.0 && done.state.ineffective_count == 0);
    assert_eq!(done.numbers.dropped, list.len() - done.numbers.head - done.numbers.tail);
    assert_eq!(done.removed.first(), Some(&Removed::Replaced(0)));
    assert!(done.removed[1..].iter().all(|r| matches!(r, Removed::Dropped(_))));
    assert_eq!(done.removed.len(), done.numbers.dropped + 1);
    assert!(list.iter().zip(&before).all(|(m, raw)| m.raw() == raw), "the input is as it was");
}

#[test]
fn the_note_comes_once_in_every_form_of_content() {
    let note = compress::SYSTEM_NOTE;
    for (content, expect) in [
        (json!("be \"good\""), json!(format!("be \"good\"\n\n{note}"))),
        (json!(""), json!(note)),
        (json!(null), json!(note)),
        (
            json!([{"type": "text", "text": "x"}]),
            json!([{"type": "text", "text": "x"}, {"type": "text", "text": note}]),
        ),
        (json!([]), json!([{"type": "text", "text": note}])),
        (json!(format!("x\n\n{note}")), json!(format!("x\n\n{note}"))),
    ] {
        let mut list = chat(30);
        list[0] = json!({"role": "system", "content": content});
        let list = messages(&list);
        let done = compress_with(&list, &settings(1_000, 3, 20), &EngineState::default(), "x");
        let first: Value = serde_json::from_str(done.messages(&list).next().unwrap().raw()).unwrap();
        assert_eq!(first["content"], expect);
    }
}

#[test]
fn too_little_is_declined_and_only_a_gap_counts_as_weak() {
    let mut state = EngineState::default();
    for count in 0..9 {
        let list = messages(&chat(20))[..count].to_vec();
        let declined = prepare(&list, &settings(1_000, 3, 20), &state, &CompressRequest::default()).err();
        assert_eq!(declined, (count <= 8).then_some(Declined::TooFew), "{count}");
    }
    Declined::TooFew.note(&mut state);
    assert_eq!((state.ineffective_count, state.savings_pct), (0, 100.0));
    Declined::NothingBetween.note(&mut state);
    assert_eq!((state.ineffective_count, state.savings_pct), (1, 0.0));
    let mut list = vec![say("system", "s"), say("user", "u"), say("assistant", "a"), say("user", "do it")];
    list.push(json!({"role": "assistant", "tool_calls": [{"id": "x"}, {"id": "y"}]}));
    list.extend((0..9).map(|_| json!({"role": "tool", "tool_call_id": "x", "content": "r"})));
    let declined = prepare(&messages(&list), &settings(1_000, 3, 20), &state, &CompressRequest::default()).err();
    assert_eq!(declined, Some(Declined::NothingBetween), "the calls are in flight");
}

#[test]
fn a_second_run_builds_on_the_first() {
    let settings = settings(1_000, 3, 20);
    let list = messages(&chat(30));
    let first = compress_with(&list, &settings, &EngineState::default(), "## Goal\nfirst record");
    let mut next: Vec<Message> = first.messages(&list).cloned().collect();
    for at in 0..20 {
        next.push(Message::parse(say("assistant", &format!("more {at}")).to_string()).unwrap());
        next.push(Message::parse(say("user", &format!("and {at}")).to_string()).unwrap());
    }
    for state in [first.state.clone(), EngineState::default()] {
        let prepared = prepare(&next, &settings, &state, &CompressRequest::default()).ok().unwrap();
        assert_eq!(prepared.previous_summary(), Some("## Goal\nfirst record"));
        let prompt = prepared.request().prompt;
        assert_eq!(prompt.matches("first record").count(), 1);
        assert!(prompt.contains("NEW TURNS TO INCORPORATE") && !prompt.contains("cmp_7"));
        let done = prepared.finish(summary("second record"), note());
        let new: Vec<&Message> = done.messages(&next).collect();
        assert_eq!(new.iter().filter(|m| m.is_summary()).count(), 1);
        assert!(!done.handoff.contains("first record"));
        assert_eq!(new[0].text().matches(compress::SYSTEM_NOTE).count(), 1);
    }
}

#[test]
fn a_merged_handoff_keeps_the_users_words_and_gives_them_back() {
    let settings = settings(1_000, 2, 3);
    let list = messages(&chat(30));
    let done = compress_with(&list, &settings, &EngineState::default(), "first record");
    let new: Vec<Message> = done.messages(&list).cloned().collect();
    let merged = new.iter().find(|m| m.is_summary()).unwrap();
    assert_eq!(merged.role().as_str(), "user");
    let own = handoff::split(&merged.text()).unwrap().rest;
    assert!(list.iter().any(|m| m.text() == own), "{own}");
    assert!(done.slots.iter().any(|slot| matches!(slot, Slot::Replaced { message, .. } if message.is_summary())));
    let mut next = new;
    next.extend(messages(&chat(30)[1..]));
    let prepared = prepare(&next, &settings, &done.state, &CompressRequest::default()).ok().unwrap();
    assert!(prepared.request().prompt.contains(&own[..20]), "the words are a turn of the next run");
}

#[test]
fn a_last_question_right_behind_the_head_survives() {
    let mut list =
        vec![say("system", "s"), say("user", "u"), say("assistant", "a"), say("user", "b"), say("assistant", "c")];
    list.insert(4, say("assistant", "d"));
    list.truncate(5);
    list.push(say("user", "the task itself"));
    for at in 0..30 {
        list.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{at}"), "function": {"name": "terminal", "arguments": "{}"}}]}));
        list.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "x".repeat(2_000)}));
    }
    let list = messages(&list);
    let planned = plan(&list, &settings(1_000, 4, 20), &PlanRequest::default());
    assert_eq!((planned.start, planned.end), (5, 6));
    let done = compress_with(&list, &settings(1_000, 4, 20), &EngineState::default(), "x");
    let new: Vec<&Message> = done.messages(&list).collect();
    let handoff = new.iter().position(|m| m.is_summary()).unwrap();
    let task = new.iter().position(|m| m.text().ends_with("the task itself")).unwrap();
    assert!(task >= handoff);
}

#[test]
fn parted_groups_are_repaired_and_calls_in_flight_stay_open() {
    let mut list = chat(20);
    list.push(json!({"role": "assistant", "content": "on it", "tool_calls": [{"id": "a"}, {"id": "b"}]}));
    list.push(json!({"role": "tool", "tool_call_id": "a", "content": "r"}));
    list[3] = json!({"role": "assistant", "tool_calls": [{"id": "h"}]});
    let list = messages(&list);
    let done = compress_with(&list, &settings(1_000, 3, 3), &EngineState::default(), "x");
    let new: Vec<Message> = done.messages(&list).cloned().collect();
    let stubs = new.iter().filter(|m| m.text() == pairs::STUB).count();
    assert_eq!(stubs, 1, "one for the head's call, none for those in flight");
    assert_eq!(new.last().unwrap().raw(), list.last().unwrap().raw());
}

#[test]
fn only_the_newest_users_image_survives() {
    let picture = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:AAAA"}}]});
    let mut list = chat(20);
    list[1] = picture("old");
    *list.last_mut().unwrap() = picture("new");
    let list = messages(&list);
    let done = compress_with(&list, &settings(2_000, 3, 20), &EngineState::default(), "x");
    let new: Vec<&Message> = done.messages(&list).collect();
    assert_eq!(new.iter().filter(|m| m.has_image()).count(), 1);
    assert!(new.last().unwrap().has_image());
}

#[test]
fn sections_follow_the_summary_each_under_its_heading() {
    let list = messages(&chat(20));
    let body = format!("the record\n{}\nrest of it", constants::END_MARKER);
    let sections = [SectionKind::Constraints, SectionKind::Anchors]
        .map(|kind| Section { kind, text: format!("text of {kind:?}") });
    let done = prepare(&list, &settings(1_000, 3, 20), &EngineState::default(), &CompressRequest::default())
        .ok()
        .unwrap()
        .finish(Summary { body, sections: sections.to_vec() }, note());
    let order = [
        "the record\nrest of it",
        "## Exact References\ntext of Anchors",
        "## Earlier User Messages (verbatim)\n- question",
        "## Standing Constraints\ntext of Constraints",
        "## Archived Messages\n",
        constants::END_MARKER,
    ];
    let mut at = 0;
    for part in order {
        at += done.handoff[at..].find(part).unwrap();
    }
    assert_eq!(done.handoff.matches(constants::END_MARKER).count(), 1);
    assert_eq!(done.state.previous_summary.as_deref(), Some("the record\nrest of it"));
}

#[test]
fn secrets_of_a_summary_are_masked() {
    let list = messages(&chat(20));
    let done =
        compress_with(&list, &settings(1_000, 3, 20), &EngineState::default(), "key sk-abcdefghijklmnopqrstuvwxyz");
    assert!(!done.handoff.contains("ghijklmnop"));
    assert!(!done.state.previous_summary.unwrap().contains("ghijklmnop"));
}

#[test]
fn a_plan_says_what_a_run_would_do() {
    let list = messages(&chat(30));
    let settings = settings(1_000, 3, 20);
    let request = PlanRequest {
        focus: Focus::Off,
        previous_summary: Some("held".to_owned()),
        today: Some(Today::parse("2026-11-21").unwrap()),
    };
    let planned = plan(&list, &settings, &request);
    assert_eq!((planned.head_size, planned.start, planned.min_tail), (4, 4, 8));
    assert_eq!(planned.messages.len(), list.len());
    assert_eq!((planned.focus, planned.previous_summary), (None, None));
    assert_eq!((planned.summary_budget, planned.max_tokens), (2_000, Some(2_600)));
    let prompt = planned.prompt.unwrap();
    assert!(prompt.contains(&planned.serialized) && prompt.contains("2026-11-21"));
    let prepared = prepare(
        &list,
        &settings,
        &EngineState::default(),
        &CompressRequest { focus: Focus::Off, today: request.today, ..CompressRequest::default() },
    )
    .ok()
    .unwrap();
    assert_eq!(prepared.request().prompt, prompt);
    assert_eq!(prepared.middle(), planned.start..planned.end);
}

#[test]
fn every_list_and_every_window_has_a_plan() {
    for window in [1, 10, 1_000, 64_000, 10_000_000] {
        for count in 0..12 {
            let list = messages(&chat(20))[..count].to_vec();
            let planned = plan(&list, &settings(window, 3, 20), &PlanRequest::default());
            assert!(planned.start <= planned.end && planned.end <= count || planned.prompt.is_none());
        }
    }
}

#[test]
fn the_callers_figure_counts_as_the_size_before() {
    let list = messages(&chat(30));
    let request = CompressRequest { current_tokens: Some(1_000_000), ..CompressRequest::default() };
    let prepared = prepare(&list, &settings(1_000, 3, 20), &EngineState::default(), &request).ok().unwrap();
    let done = prepared.finish(summary("x"), note());
    assert_eq!(done.numbers.tokens_before, 1_000_000);
    assert!(done.numbers.savings_pct > 99.0);
}
