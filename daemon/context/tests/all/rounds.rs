//! Successive compressions of a session that hardly grows: the messages of its beginning are still quoted.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;

use herma_context::compressor::prepare;
use herma_context::engine::{ArchiveNote, CompressRequest, EngineState, Gain, Summary, Writer};
use herma_context::{Message, RawSettings, Role, Settings};
use serde_json::{Value, json};

/// Successive runs.
const RUNS: usize = 20;

/// The number of facts that the user states.
const FACTS: usize = 40;

fn fact(at: usize) -> String {
    let name = ["amber", "birch", "cobalt", "dune"][at % 4];
    format!("For the record, the {name} cluster {at} of the staging area listens on port {} by now.", 41_000 + at * 17)
}

/// Returns facts, each followed by reading a file.
fn conversation() -> Vec<Message> {
    let mut values = vec![json!({"role": "system", "content": "You are an agent."})];
    for at in 0..FACTS {
        let arguments = format!(r#"{{"path": "part_{at}.py"}}"#);
        let call = json!({"id": format!("c{at}"), "type": "function", "function": {"name": "read_file", "arguments": arguments}});
        values.extend([
            json!({"role": "user", "content": fact(at)}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": format!("line {at} of the file\n").repeat(70)}),
            json!({"role": "assistant", "content": "Noted."}),
        ]);
    }
    values.iter().map(parsed).collect()
}

fn parsed(value: &Value) -> Message {
    Message::parse(value.to_string()).unwrap()
}

fn settings() -> Settings {
    RawSettings { context_length: 16_000, ..RawSettings::default() }.check().unwrap()
}

/// Returns the list after a run; the same list if the run was declined.
fn compressed(list: Vec<Message>, state: &mut EngineState, gain: Gain, number: usize) -> Vec<Message> {
    let request = CompressRequest { gain, ..CompressRequest::default() };
    let Ok(prepared) = prepare(&list, &settings(), state, &request) else { return list };
    let summary = Summary { body: prepared.extractive_summary(None), writer: Writer::Extractive, ..Summary::default() };
    let done = prepared.finish(summary, ArchiveNote { handle: format!("cmp_{number}"), messages: 9 });
    *state = done.state.clone();
    done.messages(&list).cloned().collect()
}

#[test]
fn what_was_said_is_still_there_after_twenty_runs() {
    for gain in [Gain::Any, Gain::Required] {
        let mut state = EngineState::default();
        let mut list = conversation();
        for run in 0..RUNS {
            list = compressed(list, &mut state, gain, run);
            let text: String = list.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join("\n");
            let missing: Vec<String> = (0..FACTS).map(fact).filter(|fact| !text.contains(fact)).collect();
            assert_eq!(missing, Vec::<String>::new(), "after run {run}, {gain:?}");
            list.push(parsed(&json!({"role": "user", "content": format!("Reviewed module {run}.")})));
            list.push(parsed(&json!({"role": "assistant", "content": "Good."})));
        }
        assert!(state.compression_count > 0);
    }
}

#[test]
fn a_handoff_is_not_made_shorter_for_a_gain() {
    let mut state = EngineState::default();
    let mut list = compressed(conversation(), &mut state, Gain::Required, 0);
    let once = state.compression_count;
    for at in 0..3 {
        list.push(parsed(&json!({"role": "user", "content": format!("Reviewed module {at}.")})));
        list.push(parsed(&json!({"role": "assistant", "content": "Good."})));
    }
    let before: Vec<String> = list.iter().map(|message| message.raw().to_owned()).collect();
    let after = compressed(list, &mut state, Gain::Required, 1);
    let after: Vec<String> = after.iter().map(|message| message.raw().to_owned()).collect();
    assert_eq!((once, state.compression_count), (1, 1));
    assert_eq!(after, before);
}

#[test]
fn what_a_person_prefers_is_kept_also_out_of_a_question() {
    let preferred = ["aisle seats", "short answers", "trains over planes", "tabs for indentation", "morning flights"];
    let ask = |at: usize, what: &str| match at % 4 {
        0 => format!("I prefer {what}, so can you look that up for me?"),
        1 => format!("Can you find an option? I prefer {what}."),
        2 => format!("Since I prefer {what}, what would you suggest?"),
        _ => format!("Could you rework the list, because I really prefer {what}?"),
    };
    let mut state = EngineState::default();
    let mut list = vec![parsed(&json!({"role": "system", "content": "You are an agent."}))];
    for (at, what) in preferred.iter().enumerate() {
        list.push(parsed(&json!({"role": "user", "content": ask(at, what)})));
        list.push(parsed(&json!({"role": "assistant", "content": "It depends on the day. ".repeat(20)})));
    }
    for run in 0..9 {
        for at in 0..40 {
            let question =
                format!("Could you please read file_{run}_{at}.rs, and tell me who changed part {at} of it?");
            list.push(parsed(&json!({"role": "user", "content": question})));
            list.push(parsed(&json!({"role": "assistant", "content": "Nothing is known so far. ".repeat(20)})));
        }
        list = compressed(list, &mut state, Gain::Any, run);
        let text: String = list.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join("\n");
        for what in preferred {
            assert!(text.contains(&format!("prefer {what}")), "{what} after run {run}: {text}");
        }
    }
    assert_eq!(state.compression_count, 9);
}

#[test]
fn what_a_kept_output_loses_is_in_the_handoff() {
    let mut shorter = 0;
    for size in [10, 15, 20, 25, 30, 40, 60] {
        // One of a kind, deep inside each output.
        let lost = |at: usize| format!("The p99 of the nightly export {at} is 33{at}.84 ms now.");
        let level = |line: usize| ["INFO", "INFO", "ERROR"][line % 3];
        let noise = |at: usize, line: usize| {
            format!("2026-05-01T02:11:{line:02}Z {} [worker-{at}] failed to open part_{at}_{line}", level(line))
        };
        let mut list = vec![json!({"role": "system", "content": "You are an agent."})];
        for at in 0..40 {
            let lines: Vec<String> = (0..size).map(|line| noise(at, line)).collect();
            let (head, tail) = lines.split_at(size / 2);
            let output = format!("{}\n{}\n{}", head.join("\n"), lost(at), tail.join("\n"));
            let call =
                json!({"id": format!("c{at}"), "type": "function", "function": {"name": "run", "arguments": "{}"}});
            list.extend([
                json!({"role": "user", "content": format!("please look at part {at}")}),
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": output}),
                json!({"role": "assistant", "content": "That was it."}),
            ]);
        }
        let before: Vec<Message> = list.iter().map(parsed).collect();
        let known: HashSet<&str> = before.iter().map(Message::raw).collect();
        let after = compressed(before.clone(), &mut EngineState::default(), Gain::Any, 0);
        let is_shorter = |message: &&Message| *message.role() == Role::Tool && !known.contains(message.raw());
        shorter += after.iter().filter(is_shorter).count();
        let text: String = after.iter().map(|message| message.text().into_owned() + "\n").collect();
        for at in 34..40 {
            assert_eq!(text.matches(&lost(at)).count(), 1, "{at} of size {size}: {text}");
        }
    }
    assert!(shorter > 0, "some output of a tail became shorter");
}
