//! Measures how long a compression takes, compared with parsing the same bytes into raw values.
//!
//! Prints milliseconds and the ratio. Run `cargo bench -p herma-context`. If `HERMA_BENCH_FILE` is set, it
//! measures the JSON list in that file instead.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use herma_context::compressor::prepare;
use herma_context::engine::{ArchiveNote, CompressRequest, EngineState, Summary};
use herma_context::{Message, Settings, forms, tokens};
use serde_json::value::RawValue;

fn main() {
    println!(
        "messages      MB   floor ms    read ms   parse ms   estimate   prepare   extractive   finish   request   whole   ratio"
    );
    if let Ok(path) = std::env::var("HERMA_BENCH_FILE") {
        return run(&std::fs::read_to_string(path).unwrap());
    }
    for count in [1_000, 5_000, 50_000] {
        let bytes_per_output = if count == 50_000 { 400 } else { 6_500 };
        run(&conversation(count, bytes_per_output));
    }
}

fn run(json: &str) {
    let settings = Settings::of_window(200_000).unwrap();
    let state = EngineState::default();
    let floor = best(|| {
        let _values: Vec<&RawValue> = black_box(serde_json::from_str(json).unwrap());
    });
    let raws: Vec<&RawValue> = serde_json::from_str(json).unwrap();
    let texts: Vec<String> = raws.iter().map(|raw| raw.get().to_owned()).collect();
    let parse = || Message::all_of_json(texts.clone());
    let messages = parse();
    let prepared = || prepare(&messages, &settings, &state, &CompressRequest::default()).ok().unwrap();
    let read_time = best(|| drop(black_box(forms::read(texts.clone()))));
    let parse_time = best(|| drop(black_box(parse())));
    let estimate = best_of_prepared(parse, |fresh| {
        black_box(tokens::estimate_messages(&fresh));
    });
    let prepare_time = best_of_prepared(parse, |fresh| {
        let request = CompressRequest::default();
        black_box(prepare(&fresh, &settings, &state, &request).ok());
    });
    let ready = prepared();
    let extractive = best(|| drop(black_box(ready.extractive_summary(None))));
    let request = best(|| drop(black_box(ready.request())));
    let body = ready.extractive_summary(None);
    let finish = best_of_prepared(prepared, |ready| {
        let summary = Summary { body: body.clone(), ..Summary::default() };
        drop(black_box(ready.finish(summary, note())));
    });
    let whole = floor + read_time + parse_time + prepare_time + extractive + finish;
    println!(
        "{:>8} {:>7.1} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {:>9.2} {:>12.2} {:>8.2} {:>9.2} {:>7.2} {:>7.2}",
        messages.len(),
        json.len() as f64 / 1e6,
        ms(floor),
        ms(read_time),
        ms(parse_time),
        ms(estimate),
        ms(prepare_time),
        ms(extractive),
        ms(finish),
        ms(request),
        ms(whole),
        whole.as_secs_f64() / floor.as_secs_f64()
    );
}

fn note() -> ArchiveNote {
    ArchiveNote { handle: "cmp_1".to_owned(), messages: 1 }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn best(mut work: impl FnMut()) -> Duration {
    best_of_prepared(|| (), |()| work())
}

fn best_of_prepared<T>(mut make: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let times = (0..7).map(|_| {
        let made = make();
        let start = Instant::now();
        work(made);
        start.elapsed()
    });
    times.min().unwrap()
}

/// Returns a coding session: occasional requests, calls, and outputs that contain escapes.
fn conversation(count: usize, output_bytes: usize) -> String {
    let mut seed = 1_u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 40).unwrap()
    };
    let mut out = String::from(r#"[{"role":"system","content":"You are a coding agent."}"#);
    for at in 1..count {
        match at % 20 {
            1 => write!(out, r#",{{"role":"user","content":"Please fix issue {at} in src/part{}.rs: the test fails when the input is empty.\nKeep the API."}}"#, next() % 50).unwrap(),
            0 => write!(out, r#",{{"role":"assistant","content":"Done with step {at}; `cargo test` passes now."}}"#).unwrap(),
            odd if odd % 2 == 0 => write!(out, r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{at}","type":"function","function":{{"name":"terminal","arguments":"{{\"command\": \"rg -n part{} src\"}}"}}}}]}}"#, next() % 90).unwrap(),
            _ => {
                let mut text = String::new();
                while text.len() < output_bytes {
                    write!(text, "src/part{}.rs:{}: let value = \"é{}\";\\n", next() % 90, next() % 900, next()).unwrap();
                }
                let text = text.replace('"', "\\\"");
                write!(out, r#",{{"role":"tool","tool_call_id":"call_{}","content":"{{\"output\": \"{text}\", \"exit_code\": 0}}"}}"#, at - 1).unwrap();
            }
        }
    }
    out.push(']');
    out
}
