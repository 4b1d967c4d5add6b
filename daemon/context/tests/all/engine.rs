//! Compression from end to end, on lists written by hand.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::compressor::{has_work, plan, prepare};
use herma_context::engine::{
    ArchiveNote, CompressRequest, Compressed, EngineState, Focus, Gain, PlanRequest, Rejection, Removed, Section,
    SectionKind, Slot, Summary, Today, Writer,
};
use herma_context::{Message, RawSettings, Settings, compressor, constants, constraints, handoff, pairs};
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

/// Returns a system message, turns of user and assistant, and a last question.
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
    Summary { body: body.to_owned(), ..Summary::default() }
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
    let done = compress_with(&list, &settings(7_000, 2, 20), &EngineState::default(), "## Goal\nthe record");
    let new: Vec<&Message> = done.messages(&list).collect();
    assert_eq!(roles(&new), "suauauauauauauauauau", "head s u a, handoff u, then the tail");
    assert!(new[0].text().ends_with(compressor::SYSTEM_NOTE));
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
    let note = compressor::SYSTEM_NOTE;
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
        assert_eq!(declined, (count <= 8).then_some(Rejection::TooFew), "{count}");
    }
    state.decline(Rejection::TooFew);
    assert_eq!((state.ineffective_count, state.savings_pct), (0, 100.0));
    state.decline(Rejection::NothingBetween);
    assert_eq!((state.ineffective_count, state.savings_pct), (1, 0.0));
    let mut list = vec![say("system", "s"), say("user", "u"), say("assistant", "a"), say("user", "do it")];
    list.push(json!({"role": "assistant", "tool_calls": [{"id": "x"}, {"id": "y"}]}));
    list.extend((0..9).map(|_| json!({"role": "tool", "tool_call_id": "x", "content": "r"})));
    let declined = prepare(&messages(&list), &settings(1_000, 3, 20), &state, &CompressRequest::default()).err();
    assert_eq!(declined, Some(Rejection::NothingBetween), "the calls are in flight");
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
        assert_eq!(new[0].text().matches(compressor::SYSTEM_NOTE).count(), 1);
    }
}

#[test]
fn a_merged_handoff_keeps_the_users_words_and_gives_them_back() {
    let settings = settings(6_400, 2, 3);
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
    let task = list[5].raw().to_owned();
    // It is kept, so there are no messages for a handoff to replace.
    let wide = settings(200_000, 4, 20);
    assert_eq!(plan(&list, &wide, &PlanRequest::default()).start, 5);
    let declined = prepare(&list, &wide, &EngineState::default(), &CompressRequest::default());
    assert_eq!(declined.err(), Some(Rejection::NothingBetween));
    // In a list over the threshold the handoff covers the work since then.
    let narrow = settings(8_000, 4, 20);
    let mut list = list;
    for at in (6..list.len()).step_by(2) {
        let said = json!({"role": "assistant", "content": "thinking ".repeat(200), "tool_calls": [{"id": format!("c{}", at / 2 - 3)}]});
        list[at] = Message::parse(said.to_string()).unwrap();
    }
    let planned = plan(&list, &narrow, &PlanRequest::default());
    let prepared = prepare(&list, &narrow, &EngineState::default(), &CompressRequest::default()).ok().unwrap();
    assert_eq!(prepared.middle(), planned.start..planned.end);
    assert!(prepared.middle().contains(&5) && prepared.dropped() == prepared.middle().len() - 1);
    assert!(prepared.turns().all(|turn| turn.raw() != task));
    let done = prepared.finish(summary("what was done"), note());
    let new: Vec<&Message> = done.messages(&list).collect();
    let at = new.iter().position(|m| m.text().ends_with("the task itself")).unwrap();
    assert!(new[..=at].iter().any(|m| m.is_summary()), "the handoff stands before it");
    assert!(new.len() > at + 2 && new.last().unwrap().raw() == list.last().unwrap().raw());
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
        .finish(Summary { body, sections: sections.to_vec(), ..Summary::default() }, note());
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
        ..PlanRequest::default()
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

/// Returns a chat that contains facts.
fn long_talk(turns: usize) -> Vec<Value> {
    let mut list = chat(turns);
    list[7] = say("user", "Never push to main. Please look at the importer.");
    list[8] = say("assistant", "We decided to keep SQLite because it needs no server.");
    list.insert(9, json!({"role": "assistant", "content": null, "tool_calls": [{"id": "t", "function": {"name": "terminal", "arguments": "{\"command\": \"make -C lab flash\"}"}}]}));
    let output = format!(
        "{}\nlock manager: gave up on shard 17 (errno 11)\n{}",
        "step done\n".repeat(200),
        "step done\n".repeat(200)
    );
    list.insert(
        10,
        json!({"role": "tool", "tool_call_id": "t", "content": json!({"output": output, "exit_code": 2}).to_string()}),
    );
    list
}

const FACTS: [&str; 5] = [
    "Never push to main.",
    "Please look at the importer.",
    "We decided to keep SQLite because it needs no server.",
    "lock manager: gave up on shard 17 (errno 11)",
    "make -C lab flash -> exit 2",
];

#[test]
fn every_handoff_says_how_to_get_back_what_it_replaces() {
    for writer in [Writer::Model, Writer::Extractive] {
        let settings = settings(40_000, 3, 20);
        let (mut list, mut state) = (messages(&long_talk(60)), EngineState::default());
        let handle = |run: usize| format!("cmp_0123456789ab_{run}");
        for run in 0..14 {
            let prepared = prepare(&list, &settings, &state, &CompressRequest::default()).ok().unwrap();
            let body = match writer {
                Writer::Model => "## Goal\nto go on".to_owned(),
                Writer::Extractive => prepared.extractive_summary(Some("status 500")),
            };
            let note = ArchiveNote { handle: handle(run), messages: prepared.dropped() };
            let done = prepared.finish(Summary { body, writer, ..Summary::default() }, note);
            let (_, recall) = done.handoff.split_once("\n## Archived Messages\n").unwrap();
            let recall = recall.split_once("\n\n").unwrap().0;
            assert!(recall.chars().count() <= 520, "{recall}");
            assert!(
                recall.contains(&format!("under the handle {}. {}", handle(run), constants::RECALL_EXPAND)),
                "{recall}"
            );
            assert!(recall.contains(constants::RECALL_SEARCH), "{recall}");
            let named = recall.split_once("Earlier ones: ").map_or("", |(_, rest)| rest.trim_end_matches('.'));
            let earlier: Vec<&str> = named.split(", ").filter(|handle| !handle.is_empty()).collect();
            let expect: Vec<String> = (0..run).rev().take(8).map(handle).collect();
            assert_eq!(earlier, expect, "whole, newest first");
            list = done.messages(&list).cloned().collect();
            list.extend(messages(&chat(60)[1..]));
            state = done.state;
        }
    }
}

#[test]
fn facts_outlive_five_compressions_whoever_writes_the_summary() {
    for own in [true, false] {
        let settings = settings(40_000, 3, 20);
        let mut list = messages(&long_talk(60));
        let mut state = EngineState::default();
        for run in 0..5 {
            let prepared = prepare(&list, &settings, &state, &CompressRequest::default()).ok().unwrap();
            let body = if own { prepared.extractive_summary(None) } else { format!("## Goal\nrun {run}") };
            let note = ArchiveNote { handle: format!("cmp_{run}"), messages: prepared.dropped() };
            let limit = prepared.handoff_chars();
            let done = prepared.finish(summary(&body), note);
            assert!(done.handoff.chars().count() <= limit, "{} of {limit}", done.handoff.chars().count());
            for fact in FACTS {
                assert!(done.handoff.contains(fact), "{fact} after run {run}: {}", done.handoff);
            }
            assert!(done.numbers.constraints == 1 && done.numbers.anchors >= 3);
            assert!(!done.state.previous_summary.clone().unwrap().contains("## Exact References"));
            list = done.messages(&list).cloned().collect();
            list.extend(messages(&chat(60)[1..]));
            state = done.state;
        }
        let text: String = list.iter().map(Message::text).collect();
        assert!(text.contains("Earlier ones: cmp_3, cmp_2, cmp_1, cmp_0."));
    }
}

#[test]
fn a_summary_that_is_too_long_makes_room_for_what_herma_appends() {
    let list = messages(&long_talk(60));
    let prepared =
        prepare(&list, &settings(40_000, 3, 20), &EngineState::default(), &CompressRequest::default()).ok().unwrap();
    let limit = prepared.handoff_chars();
    let done = prepared.finish(summary(&"a line of a long summary\n".repeat(9_000)), note());
    assert!(done.handoff.chars().count() <= limit);
    for fact in FACTS {
        assert!(done.handoff.contains(fact), "{fact}");
    }
}

#[test]
fn rules_that_a_person_removed_stay_out() {
    let list = messages(&long_talk(60));
    let settings = settings(40_000, 3, 20);
    let prepared = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()).ok().unwrap();
    let update = prepared.constraints().clone();
    assert!(update.changed && update.constraints.len() == 1);
    let mut known = update.constraints;
    known[0].state = constraints::State::Removed;
    let request = CompressRequest { constraints: known, now: 5.0, ..CompressRequest::default() };
    let done = prepare(&list, &settings, &EngineState::default(), &request).ok().unwrap().finish(summary("x"), note());
    assert!(!done.constraints.changed && done.numbers.constraints == 0);
    assert!(!done.handoff.contains("## Standing Constraints"));
}

#[test]
fn where_a_gain_is_required_a_short_middle_is_declined() {
    let list = messages(&chat(20)[..9]);
    let settings = settings(7_000, 3, 20);
    let request = CompressRequest { gain: Gain::Required, ..CompressRequest::default() };
    let declined = prepare(&list, &settings, &EngineState::default(), &request).err();
    assert_eq!(declined, Some(Rejection::NoGain));
    assert!(!has_work(&list, &settings, None), "nobody is to ask for such a run");
    assert!(prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()).is_ok());
}

#[test]
fn a_short_summary_leaves_its_room_to_the_users_words() {
    for (count, chars, window) in [(18, 380, 64_000), (3, 1_900, 64_000)] {
        let ask = |at: usize| format!("Please change part {at}: {}", "x ".repeat(chars / 2 - 12));
        let mut list = vec![say("system", "You are an agent."), say("user", "hello"), say("assistant", "yes")];
        for at in 0..count {
            list.push(say("user", ask(at).trim()));
            list.push(say("assistant", "Done."));
        }
        list.extend((0..8).map(|at| say(if at % 2 == 0 { "user" } else { "assistant" }, "on we go")));
        let list = messages(&list);
        let done = compress_with(&list, &settings(window, 2, 4), &EngineState::default(), "a short summary");
        for at in 0..count {
            assert!(done.handoff.contains(ask(at).trim()), "{at} of {count} in {}", done.handoff);
        }
    }
}

#[test]
fn a_short_span_keeps_its_exact_references() {
    let facts = [
        "exit code 101",
        "https://ci.example.org/run/77",
        "#4321",
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "12.5 ms",
        "/srv/data/tiny.parquet",
    ];
    let mut list = vec![say("system", "You are an agent."), say("user", "hello"), say("assistant", "yes")];
    for fact in facts {
        list.push(say("user", "go on"));
        list.push(say("assistant", &format!("What I found there is {fact} as it seems.")));
    }
    list.extend((0..4).map(|at| say(if at % 2 == 0 { "user" } else { "assistant" }, "on we go")));
    let list = messages(&list);
    let done = compress_with(&list, &settings(64_000, 2, 3), &EngineState::default(), "short");
    for fact in facts {
        assert!(done.handoff.contains(fact), "{fact} in {}", done.handoff);
    }
    assert!(done.numbers.anchors >= facts.len());
}

#[test]
fn what_the_user_replaced_is_left_to_the_archive_and_counted() {
    let mut list = chat(30);
    list[5] = say("user", "Report all times in UTC.");
    list[7] = say("user", "The travel budget is $700.");
    list[21] = say("user", "From now on, report all times in Pacific time.");
    list[23] = say("user", "The project budget is $900 now.");
    let list = messages(&list);
    let prepared =
        prepare(&list, &settings(12_000, 3, 5), &EngineState::default(), &CompressRequest::default()).ok().unwrap();
    let body = prepared.extractive_summary(None);
    let summary = Summary { body, writer: Writer::Extractive, ..Summary::default() };
    let note = ArchiveNote { handle: "cmp_x_1".into(), messages: prepared.dropped() };
    let handoff = prepared.finish(summary, note).handoff;
    assert!(!handoff.contains("UTC") && handoff.contains("report all times in Pacific time"), "{handoff}");
    assert!(handoff.contains("$700") && handoff.contains("$900"), "{handoff}");
    assert!(handoff.contains("(and 1 more user message"), "{handoff}");
}
