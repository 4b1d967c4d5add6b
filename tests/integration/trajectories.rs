//! Trajectories on the wire and on the command line.

mod files;

use herma_tests::{Daemon, Home, kind};
use serde_json::{Value, json};

/// Returns a recorded conversation of this many calls, each with a response of 400 chars.
fn conversation(calls: usize) -> Value {
    let exchanges = (0..calls).flat_map(|at| {
        let call = format!("<tool_call>{{\"name\":\"terminal\",\"arguments\":{at}}}</tool_call>");
        let response = format!("<tool_response>{}</tool_response>", "x".repeat(400));
        [json!({ "from": "gpt", "value": call }), json!({ "from": "tool", "value": response })]
    });
    let begin = [json!({ "from": "system", "value": "Be brief." }), json!({ "from": "human", "value": "Go." })];
    begin.into_iter().chain(exchanges).collect()
}

fn config(target: u64) -> Value {
    json!({ "compression": { "target_max_tokens": target, "summary_target_tokens": 100 } })
}

#[test]
fn the_middle_makes_place_for_a_summary() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let conversations = json!([conversation(20), conversation(1)]);
    let params = json!({ "conversations": conversations, "config": config(1500), "summaries": ["It ran.", "unused"] });
    let result = raw.result("trajectory.compress", &params);
    let (before, after) = (conversation(20), &result["conversations"][0]);
    let until = usize::try_from(result["plans"][0]["until"].as_u64().unwrap()).unwrap();
    assert_eq!(result["plans"][0]["protected"], json!([0, 1, 2, 3, 38, 39, 40, 41]));
    assert_eq!((&result["plans"][0]["start"], &result["plans"][0]["end"]), (&json!(4), &json!(38)));
    assert_eq!(after[4], json!({ "from": "human", "value": "[CONTEXT SUMMARY]: It ran." }));
    assert!(after[0]["value"].as_str().unwrap().starts_with("Be brief.\n\n"));
    assert_eq!(after.as_array().unwrap()[1..4], before.as_array().unwrap()[1..4]);
    assert_eq!(after.as_array().unwrap()[5..], before.as_array().unwrap()[until..]);
    let row = &result["metrics"][0];
    let region = json!({ "start_idx": 4, "end_idx": until, "turns_count": until - 4 });
    assert_eq!((&row["compression_region"], &row["was_compressed"]), (&region, &json!(true)));
    assert!(row["compressed_tokens"].as_u64().unwrap() <= 1500, "{row}");
    let input = result["plans"][0]["summary_input"].as_str().unwrap();
    assert!(input.starts_with("[Turn 4 - GPT]:\n<tool_call>"), "{input}");
    let untouched = json!({ "start_idx": -1, "end_idx": -1, "turns_count": 0 });
    assert_eq!(result["metrics"][1]["compression_region"], untouched);
    assert_eq!(result["conversations"][1], conversation(1));
    assert_eq!(result["plans"][1]["skip"], "under_target");
    let summary = json!({ "total_trajectories": 2, "trajectories_compressed": 1, "trajectories_skipped_under_target": 1,
        "trajectories_still_over_limit": 0, "trajectories_failed": 0, "compression_rate": 0.5 });
    assert_eq!(result["aggregate"]["summary"], summary);
    assert_eq!(result["config"]["compression"]["target_max_tokens"], 1500);
    assert_eq!(result["config"]["processing"]["max_concurrent_requests"], 50);
}

#[test]
fn a_dry_run_and_own_counts_change_nothing_but_the_plan() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let tokens = vec![1000; 42];
    let params = json!({ "conversations": [conversation(20)], "tokens": [tokens], "dry_run": true,
        "config": "compression:\n  target_max_tokens: 40000 # tokens\n" });
    let result = raw.result("trajectory.compress", &params);
    assert_eq!(result["conversations"][0], conversation(20));
    let (plan, row) = (&result["plans"][0], &result["metrics"][0]);
    // 42,000 - 40,000 + 750 tokens must go: three turns, and the response after the third.
    assert_eq!((&plan["start"], &plan["until"], &plan["skip"]), (&json!(4), &json!(8), &Value::Null));
    assert_eq!((&row["original_tokens"], &row["was_compressed"]), (&json!(42_000), &json!(false)));
    assert_eq!(row["still_over_limit"], true);
}

#[test]
fn the_record_of_the_daemon_is_the_same_each_time() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let params = json!({ "conversations": [conversation(30)], "config": config(2000) });
    let results = [raw.result("trajectory.compress", &params), raw.result("trajectory.compress", &params)];
    assert_eq!(results[0]["conversations"], results[1]["conversations"]);
    let summary = results[0]["conversations"][0][4]["value"].as_str().unwrap();
    assert!(summary.starts_with("[CONTEXT SUMMARY]: Turns 4 to ") && summary.contains("terminal ×"), "{summary}");
    assert_eq!(results[0]["metrics"][0]["summarization_api_calls"], 0);
}

#[test]
fn a_program_that_fails_is_asked_again_and_then_the_fixed_text_stands() {
    let home = Home::configured("[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = [\"false\"]\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut config = config(1500);
    config["summarization"] = json!({ "max_retries": 3, "retry_delay": 0.01 });
    let result = raw.result("trajectory.compress", &json!({ "conversations": [conversation(20)], "config": config }));
    let row = &result["metrics"][0];
    assert_eq!((&row["summarization_api_calls"], &row["summarization_errors"]), (&json!(3), &json!(3)));
    assert_eq!(result["aggregate"]["summarization"]["success_rate"], 0.0);
    let summary = result["conversations"][0][4]["value"].as_str().unwrap();
    assert!(summary.starts_with("[CONTEXT SUMMARY]: [Summary generation failed."), "{summary}");
}

#[test]
fn a_program_writes_what_it_reads_of_the_turns() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = [\"grep\", \"-o\", \"-m1\", \"Turn 4 - GPT\"]\n",
    );
    let daemon = Daemon::start(&home);
    let result = daemon
        .raw()
        .result("trajectory.compress", &json!({ "conversations": [conversation(20)], "config": config(1500) }));
    assert_eq!(result["conversations"][0][4]["value"], "[CONTEXT SUMMARY]: Turn 4 - GPT");
    assert_eq!(result["metrics"][0]["summarization_api_calls"], 1);
}

#[test]
fn what_is_wrong_is_named() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (params, words) in [
        (json!({ "conversations": [[7]] }), "conversations[0][0]"),
        (json!({ "conversations": [[]], "summaries": [] }), "0 items where 1 are needed"),
        (json!({ "conversations": [[{}]], "tokens": [[]] }), "tokens[0]"),
        (json!({ "conversations": [], "config": { "compression": { "target": 1 } } }), "unknown field `target`"),
        (json!({ "conversations": [], "config": "compression: [" }), "not YAML: line 1"),
        (json!({ "conversations": [], "config": "x".repeat(70_000) }), "at most 65536"),
        (json!({ "conversations": vec![json!([]); 1001] }), "at most 1000"),
        (json!({ "conversations": [], "summarizer": "client" }), "`summaries`"),
        (json!({ "conversations": [], "summarizer": "openai" }), "not configured"),
    ] {
        let answer = raw.call("trajectory.compress", &params);
        assert_eq!(kind(&answer), "invalid_params", "{words}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{words}: {message}");
    }
}
