//! Hosts that do not accept every compressed list.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::compressor::prepare;
use herma_context::engine::{ArchiveNote, CompressRequest, Compressed, EngineState, Gain, Rejection, Slot, Summary};
use herma_context::{Host, Message, RawSettings, Settings, handoff, tokens};
use serde_json::{Value, json};

/// Claude Code keeps the model's messages by handle, and accepts results as text.
const ROWS: Host =
    Host { takes_merged_handoff: false, takes_short_calls: false, takes_short_results: true, fewer_messages: 0 };

fn settings(window: u64, first: usize) -> Settings {
    RawSettings { context_length: window, protect_first_n: Some(first), ..RawSettings::default() }.check().unwrap()
}

fn say(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Returns a call and its result, of so many chars each.
fn exchange(at: usize, arguments: usize, result: usize) -> [Value; 2] {
    let arguments = json!({"command": format!("step {at} {}", "x".repeat(arguments))}).to_string();
    let found = format!("found {at}: {}", "row of the table, number 17\n".repeat(result / 28));
    [
        json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": format!("c{at}"), "type": "function", "function": {"name": "Bash", "arguments": arguments}}]}),
        json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": found}),
    ]
}

/// Returns one turn with so many calls.
fn turn(calls: usize, arguments: usize, result: usize) -> Vec<Message> {
    let mut list = vec![say("user", "Always answer in English."), say("assistant", "understood")];
    list.push(say("user", "Do all the steps."));
    (0..calls).for_each(|at| list.extend(exchange(at, arguments, result)));
    list.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

fn compressed(list: &[Message], settings: &Settings) -> Result<Compressed, Rejection> {
    let request = CompressRequest { gain: Gain::Any, ..CompressRequest::default() };
    let prepared = prepare(list, settings, &EngineState::default(), &request)?;
    let body = prepared.extractive_summary(None);
    let note = ArchiveNote { handle: "cmp_1".to_owned(), messages: prepared.dropped() };
    Ok(prepared.finish(Summary { body, ..Summary::default() }, note))
}

#[test]
fn a_handoff_that_may_not_be_merged_is_a_message_of_its_own() {
    // The head ends with the user, and the tail begins with the model. Other hosts get the handoff merged
    // into the model's message.
    for (first, host, is_alone) in [(3, Host::default(), false), (3, ROWS, true), (0, ROWS, true)] {
        let settings = settings(100_000, first).hosted_by(host).aimed_at(Some(12_000));
        let list = turn(60, 10, 8_000);
        let done = compressed(&list, &settings).unwrap();
        let new: Vec<&Message> = done.messages(&list).collect();
        let handoff = new.iter().position(|message| message.is_summary()).unwrap();
        assert_eq!(matches!(done.slots[handoff], Slot::Inserted(_)), is_alone, "{first} {host:?}");
        assert!(!is_alone || (handoff == first && new[handoff].role().as_str() == "user"));
    }
}

#[test]
fn what_the_host_puts_back_is_not_counted_as_gone() {
    let whole = Host { takes_short_results: false, ..ROWS };
    for (host, arguments, result) in [(ROWS, 10, 8_000), (ROWS, 9_000, 10), (whole, 10, 8_000), (whole, 4_000, 4_000)] {
        let settings = settings(100_000, 0).hosted_by(host).aimed_at(Some(12_000));
        let list = turn(60, arguments, result);
        let done = compressed(&list, &settings).unwrap();
        for slot in &done.slots {
            let Slot::Replaced { index, .. } = slot else { continue };
            let role = list[*index].role().as_str().to_owned();
            assert!(host.takes_short_results && role == "tool", "{host:?}: {role} at {index} became short");
        }
        let after = tokens::estimate_messages(done.messages(&list));
        assert!(after <= 12_000, "{host:?}, {arguments} and {result} chars: {after} tokens");
    }
}

#[test]
fn a_target_is_reached_and_only_lowers_the_threshold() {
    let list = turn(120, 10, 8_000);
    let after = |target| {
        let settings = settings(200_000, 3).aimed_at(target);
        tokens::estimate_messages(compressed(&list, &settings).unwrap().messages(&list))
    };
    let ordinary = after(None);
    for target in [4_000, 8_000, 12_000, 30_000] {
        assert!(after(Some(target)) <= target, "{target}");
    }
    assert_eq!(after(Some(10_000_000)), ordinary);
    assert_eq!(settings(200_000, 3).aimed_at(Some(u64::MAX)).budgets(), settings(200_000, 3).budgets());
}

#[test]
fn a_list_that_can_t_reach_its_target_becomes_as_small_as_it_can() {
    // The user's last message and its answer exceed the target; nothing else must stay.
    let long = |of: &str, chars: usize| format!("{of} {}", "word after word ".repeat(chars / 16));
    let mut list = turn(40, 10, 4_000);
    for (role, chars) in [
        ("user", 12_000),
        ("assistant", 80),
        ("user", 12_000),
        ("assistant", 60),
        ("user", 30_000),
        ("assistant", 40_000),
    ] {
        list.push(Message::parse(say(role, &long(role, chars)).to_string()).unwrap());
    }
    let settings = settings(100_000, 0).hosted_by(ROWS).aimed_at(Some(12_000));
    let done = compressed(&list, &settings).unwrap();
    let new: Vec<&Message> = done.messages(&list).collect();
    let kept: Vec<&str> = new[1..].iter().map(|message| message.raw()).collect();
    assert_eq!(kept, list[list.len() - 2..].iter().map(Message::raw).collect::<Vec<_>>());
    assert!(done.over.is_some() && tokens::estimate_messages(new[..1].iter().copied()) < 3_000);
}

#[test]
fn a_host_that_counts_messages_gets_fewer_or_none() {
    let counting = Host { fewer_messages: 2, ..Host::default() };
    let (mut kept_whole, mut declined) = (0, 0);
    // The lists range from one that becomes small enough through shorter results to one with nothing between
    // head and tail.
    for calls in 1..40 {
        let list = turn(calls, 10, 120_000 / calls);
        let window = 24_000;
        let ordinary = compressed(&list, &settings(window, 3));
        kept_whole += usize::from(ordinary.is_ok_and(|done| done.slots.len() >= list.len()));
        match compressed(&list, &settings(window, 3).hosted_by(counting)) {
            Ok(done) => assert!(done.slots.len() + 2 <= list.len(), "{calls} calls: {} messages", list.len()),
            Err(_) => declined += 1,
        }
    }
    assert!(kept_whole > 0 && declined > 0, "both occur: {kept_whole} kept whole, {declined} declined");
}

#[test]
fn the_user_s_last_words_stand_behind_a_handoff_of_its_own() {
    let settings = settings(100_000, 0).hosted_by(ROWS).aimed_at(Some(12_000));
    let list = turn(60, 10, 8_000);
    let done = compressed(&list, &settings).unwrap();
    let new: Vec<&Message> = done.messages(&list).collect();
    assert!(handoff::is_handoff(new[0]) && new[1].text() == "Do all the steps.");
}
