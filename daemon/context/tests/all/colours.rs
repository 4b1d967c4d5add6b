//! Escape sequences of terminals do not count as parts of words: a coloured output leaves the same record as
//! a plain one.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::engine::{CompressRequest, EngineState, Gain, Summary};
use herma_context::{Engine, Message, RawSettings};
use serde_json::{Value, json};

const RED: &str = "\u{1b}[1;31m";
const PLAIN: &str = "\u{1b}[0m";

/// Returns a session whose outputs use the given colours.
fn session(on: &str, off: &str) -> Vec<Message> {
    let paint = |text: &str| format!("{on}{text}{off}");
    let mut list = vec![
        json!({"role": "system", "content": "You are an agent."}),
        json!({"role": "user", "content": "Fix the build."}),
    ];
    for at in 0..12 {
        let id = format!("call_{at}");
        let call = json!({"id": id, "function": {"name": "terminal", "arguments": json!({"command": format!("make part{at}")}).to_string()}});
        let output = match at % 3 {
            0 => format!(
                "{}: no field {} in src/{}.rs:{at}\norder {} is {}\n{}\n",
                paint("error"),
                paint(&format!("platypus_{at}")),
                paint(&format!("part{at}")),
                paint(&format!("ORD-{at}177")),
                paint("lost"),
                "some more words of the compiler\n".repeat(10),
            ),
            1 => {
                json!({"order_id": paint(&format!("A-{at}99")), "status": paint("paid"), "items": [paint("lamp_3000")]})
                    .to_string()
            }
            2 if at > 6 => format!("[{}] part{at} waits for {}\n", paint("warn"), paint("queue_7")),
            _ => format!("test parts::{} ... {}\n", paint(&format!("part_{at}")), paint("FAILED")),
        };
        list.push(json!({"role": "assistant", "content": format!("I look at part {at} with {}.", paint("make")), "tool_calls": [call]}));
        list.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    }
    list.push(json!({"role": "assistant", "content": "Part 3 was broken."}));
    list.push(json!({"role": "user", "content": "And now?"}));
    list.iter().map(|value: &Value| Message::parse(value.to_string()).unwrap()).collect()
}

fn handoff(engine: Engine, list: &[Message]) -> String {
    let settings = RawSettings { context_length: 200_000, engine, protect_last_n: Some(2), ..RawSettings::default() };
    let settings = settings.check().unwrap();
    let request = CompressRequest { gain: Gain::Any, range: Some(2..list.len() - 2), ..CompressRequest::default() };
    let mut prepared = engine.prepare(list, &settings, &EngineState::default(), &request, drop).unwrap();
    prepared.write_summary(&herma_guard::Policy::default());
    let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
    let done = prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None);
    done.messages(list).find(|message| message.is_summary()).unwrap().text().into_owned()
}

#[test]
fn a_coloured_output_leaves_the_record_of_a_plain_one() {
    for engine in [Engine::Compressor, Engine::Lossless] {
        let (plain, coloured) = (handoff(engine, &session("", "")), handoff(engine, &session(RED, PLAIN)));
        // Sections that quote texts may have more room for longer ones.
        for section in ["## State of the Work", "## Exact References"] {
            let of = |handoff: &str| {
                handoff.split("\n## ").find(|text| section.ends_with(text.lines().next().unwrap())).unwrap().to_owned()
            };
            assert_eq!(of(&coloured), of(&plain), "{engine:?}");
        }
        assert!(plain.contains("platypus_9") && plain.contains("A-799") && plain.contains("src/part9.rs"), "{plain}");
        assert!(!coloured.contains('\u{1b}') && !coloured.contains("31mplatypus"), "{coloured}");
    }
}
