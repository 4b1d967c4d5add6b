//! A text that was read back is not spilled again when it is admitted.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

use super::{admit, spill};

/// Returns everything that a model reads of a spilled text: as texts, and as the JSON of the answers.
fn readings(raw: &mut Raw, handle: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (method, params) in [
        ("output.read", json!({ "handle": handle, "line": 3, "lines": 150 })),
        ("output.read", json!({ "handle": handle, "offset": 100, "limit": 5_000 })),
        ("output.read", json!({ "handle": handle, "tail": 200 })),
        ("recall.expand", json!({ "handle": format!("{handle}:50"), "before": 40, "after": 60 })),
        ("output.search", json!({ "handle": handle, "query": "number", "context": 1 })),
    ] {
        let result = raw.result(method, &params);
        let text = match method {
            "output.read" => result["text"].clone(),
            "recall.expand" => result["items"][0]["text"].clone(),
            _ => json!(null),
        };
        all.push((method.to_owned(), json!(result.to_string())));
        all.push((method.to_owned(), json!(format!("{result:#}"))));
        if text.is_string() {
            all.push((method.to_owned(), text));
        }
    }
    all
}

#[test]
fn what_was_read_is_not_spilled_whatever_the_tool_is_called() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let text: String = (0..400).map(|at| format!("number {at} of \"many\" é日\n")).collect();
    let handle = spill(&mut raw, "c", &text);
    for (at, (method, reading)) in readings(&mut raw, &handle).into_iter().enumerate() {
        for tool in ["probe", "terminal", "mcp_herma_output_read", "output_read"] {
            let more = json!({ "id": format!("r{at}"), "tool": tool, "threshold": 100 });
            let more = if tool == "output_read" { json!({ "id": "r", "tool": tool }) } else { more };
            let admitted = admit(&mut raw, &reading, &more);
            assert_eq!((&admitted["spilled"], &admitted["content"]), (&json!(false), &reading), "{at} {method} {tool}");
        }
        let parts = json!([{ "type": "text", "text": reading }]);
        let admitted = admit(&mut raw, &parts, &json!({ "id": format!("p{at}"), "threshold": 100 }));
        assert_eq!((&admitted["spilled"], &admitted["content"]), (&json!(false), &parts), "{at} {method}");
        let other = "o".repeat(300);
        let config = json!({ "turn_budget": 10 });
        let results = json!([{ "id": "r", "tool": "probe", "content": reading }, { "id": "o", "content": other }]);
        let messages = json!([
            { "role": "tool", "tool_call_id": "r", "content": reading },
            { "role": "tool", "tool_call_id": "o", "content": other },
        ]);
        for (form, list) in [("results", results), ("messages", messages)] {
            let settled = raw.result("output.settle_turn", &json!({ "session": "s", form: list, "config": config }));
            let places: Vec<&Value> =
                settled["replacements"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
            assert_eq!(places, [&json!(1)], "{at} {method} {form}");
        }
    }
    assert_eq!(home.outputs().len(), 2, "{:?}", home.outputs());
}

#[test]
fn a_message_of_the_archive_is_not_spilled_when_it_comes_back() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let words = format!("the zeppelin {}", "flies and flies ".repeat(200));
    let messages = json!([{ "role": "user", "content": words }, { "role": "assistant", "content": "Does it?" }]);
    raw.result("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    let found = raw.result("recall.search", &json!({ "query": "zeppelin" }));
    let expanded = raw.result("recall.expand", &json!({ "handle": found["hits"][0]["handle"] }));
    for reading in [json!(words), json!(expanded.to_string())] {
        assert_eq!(admit(&mut raw, &reading, &json!({ "threshold": 100 }))["spilled"], false);
    }
}

#[test]
fn the_same_call_again_is_answered_as_it_was() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let text = "the same line\n".repeat(100);
    let first = admit(&mut raw, &json!(text), &json!({ "threshold": 100 }));
    let handle = first["handle"].as_str().unwrap().to_owned();
    // Reads the whole text, so that the daemon has returned exactly this text.
    assert_eq!(raw.result("output.read", &json!({ "handle": handle }))["text"], json!(text));
    assert_eq!(admit(&mut raw, &json!(text), &json!({ "threshold": 100 })), first);
    assert_eq!(admit(&mut raw, &json!(text), &json!({ "threshold": 100, "id": "other" }))["spilled"], false);
    let results = json!([{ "id": "c", "content": text }, { "id": "d", "content": text }]);
    let settled = raw
        .result("output.settle_turn", &json!({ "session": "s", "results": results, "config": { "turn_budget": 100 } }));
    let places: Vec<&Value> = settled["replacements"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
    assert_eq!(places, [&json!(0)]);
}

#[test]
fn a_result_that_only_quotes_what_was_read_is_spilled() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let handle = spill(&mut raw, "c", "ok");
    assert_eq!(raw.result("output.read", &json!({ "handle": handle }))["text"], "ok");
    let much = "x".repeat(150_000);
    for content in [
        format!("ok{much}"),
        json!({ "text": much, "note": "ok" }).to_string(),
        json!({ "text": "ok", "body": much }).to_string(),
        json!({ "items": [{ "text": "ok", "body": much }] }).to_string(),
        json!({ "matches": [{ "text": "ok" }], "log": much }).to_string(),
    ] {
        let admitted = admit(&mut raw, &json!(content), &json!({ "id": "d" }));
        assert_eq!(admitted["spilled"], true, "{}", &content[..40]);
    }
}
