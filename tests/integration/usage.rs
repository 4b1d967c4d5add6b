//! The usage of model calls: one form for all providers, and the sums.

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

/// Records a usage. Returns input, output, cache_read, cache_write and reasoning, and checks the derived fields.
fn record(raw: &mut Raw, params: &Value) -> [u64; 5] {
    let usage = raw.result("context.record_usage", params)["usage"].take();
    let count = |name: &str| usage[name].as_u64().unwrap_or_else(|| panic!("{name}: {usage}"));
    let [input, output, read, write, reasoning] =
        ["input", "output", "cache_read", "cache_write", "reasoning"].map(count);
    assert_eq!(count("prompt"), input + read + write, "{params}");
    assert_eq!(count("total"), count("prompt") + output, "{params}");
    assert_eq!(count("request_count"), 1);
    [input, output, read, write, reasoning]
}

/// Returns calls, input, output, cache_read, cache_write, reasoning, prompt, total.
fn numbers(row: &Value) -> [u64; 8] {
    ["calls", "input", "output", "cache_read", "cache_write", "reasoning", "prompt", "total"]
        .map(|name| row[name].as_u64().unwrap_or_else(|| panic!("{name}: {row}")))
}

#[test]
fn what_providers_report_is_read_for_what_it_means() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (about, params, expected) in [
        (
            "the contract's own example",
            json!({ "provider": "anthropic", "usage": { "input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 400 } }),
            [1000, 500, 2000, 400, 0],
        ),
        (
            "Anthropic's messages with all that comes along",
            json!({ "api_mode": "anthropic_messages", "usage": {
                "input_tokens": 12, "cache_creation_input_tokens": 2051, "cache_read_input_tokens": 18_214,
                "cache_creation": { "ephemeral_5m_input_tokens": 2051, "ephemeral_1h_input_tokens": 0 },
                "output_tokens": 503, "service_tier": "standard", "server_tool_use": { "web_search_requests": 0 } } }),
            [12, 503, 18_214, 2051, 0],
        ),
        (
            "Anthropic's messages through another provider",
            json!({ "provider": "bedrock", "api_mode": "anthropic_messages", "usage": { "input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": null } }),
            [7, 3, 0, 0, 0],
        ),
        (
            "OpenAI's responses",
            json!({ "provider": "openai", "api_mode": "codex_responses", "usage": {
                "input_tokens": 3000, "input_tokens_details": { "cached_tokens": 1200, "cache_creation_tokens": 100 },
                "output_tokens": 700, "output_tokens_details": { "reasoning_tokens": 320 }, "total_tokens": 3700 } }),
            [1700, 700, 1200, 100, 320],
        ),
        (
            "responses never go below nothing",
            json!({ "api_mode": "codex_responses", "usage": { "input_tokens": 100, "input_tokens_details": { "cached_tokens": 150 }, "output_tokens": 1 } }),
            [0, 1, 150, 0, 0],
        ),
        (
            "OpenAI's chat completions",
            json!({ "provider": "openai", "api_mode": "chat_completions", "usage": {
                "prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
                "prompt_tokens_details": { "cached_tokens": 1920, "audio_tokens": 0 },
                "completion_tokens_details": { "reasoning_tokens": 0, "accepted_prediction_tokens": 0 } } }),
            [86, 300, 1920, 0, 0],
        ),
        (
            "OpenRouter",
            json!({ "provider": "openrouter", "usage": {
                "prompt_tokens": 194, "completion_tokens": 2, "total_tokens": 196, "cost": 0.95,
                "prompt_tokens_details": { "cached_tokens": 100, "cache_write_tokens": 50 } } }),
            [44, 2, 100, 50, 0],
        ),
        (
            "a gateway that puts Anthropic's fields beside",
            json!({ "provider": "openrouter", "usage": { "prompt_tokens": 1000, "completion_tokens": 10, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 300 } }),
            [100, 10, 600, 300, 0],
        ),
        (
            "nested wins when it is not zero",
            json!({ "usage": { "prompt_tokens": 1000, "completion_tokens": 10,
                "prompt_tokens_details": { "cached_tokens": 200, "cache_write_tokens": 0 },
                "cache_read_input_tokens": 600, "cache_creation_input_tokens": 300 } }),
            [500, 10, 200, 300, 0],
        ),
        (
            "reasoning of the details",
            json!({ "usage": { "prompt_tokens": 10, "completion_tokens": 10, "output_tokens_details": { "reasoning_tokens": 9 } } }),
            [10, 10, 0, 0, 9],
        ),
        (
            "DeepSeek",
            json!({ "provider": "deepseek", "usage": { "prompt_tokens": 500, "completion_tokens": 80, "total_tokens": 580, "prompt_cache_hit_tokens": 384, "prompt_cache_miss_tokens": 116 } }),
            [116, 80, 384, 0, 0],
        ),
        (
            "Gemini",
            json!({ "provider": "gemini", "usage": { "promptTokenCount": 4000, "cachedContentTokenCount": 1500, "candidatesTokenCount": 200, "thoughtsTokenCount": 700, "totalTokenCount": 4900 } }),
            [2500, 900, 1500, 0, 700],
        ),
        (
            "a cache that is larger than the prompt",
            json!({ "usage": { "prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": { "cached_tokens": 30 } } }),
            [0, 1, 30, 0, 0],
        ),
        (
            "vLLM and llama.cpp without details",
            json!({ "usage": { "prompt_tokens": 33, "completion_tokens": 5, "total_tokens": 38, "prompt_tokens_details": null } }),
            [33, 5, 0, 0, 0],
        ),
    ] {
        assert_eq!(record(&mut raw, &params), expected, "{about}");
    }
}

#[test]
fn what_is_missing_or_no_number_counts_as_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(record(&mut raw, &json!({})), [0; 5]);
    for usage in [
        json!(null),
        json!({}),
        json!({ "prompt_tokens": null, "completion_tokens": null }),
        json!({ "prompt_tokens": -5, "completion_tokens": -1 }),
        json!({ "prompt_tokens": "many", "completion_tokens": [] }),
        json!({ "prompt_tokens": {}, "completion_tokens": "" }),
        json!({ "prompt_tokens_details": "none" }),
        json!({ "prompt_tokens_details": { "cached_tokens": -9 } }),
        json!({ "promptTokenCount": -1, "candidatesTokenCount": false }),
    ] {
        assert_eq!(record(&mut raw, &json!({ "usage": usage })), [0; 5], "{usage}");
    }
    for provider in ["anthropic", "openai", "gemini", "", "nobody"] {
        let usage = json!({ "input_tokens": -3, "output_tokens": 4, "cache_read_input_tokens": -7 });
        let [input, _, read, ..] = record(&mut raw, &json!({ "usage": usage, "provider": provider }));
        assert_eq!((input, read), (0, 0), "{provider}");
    }
    let half = json!({ "prompt_tokens": 7, "completion_tokens": -1, "prompt_tokens_details": [] });
    assert_eq!(record(&mut raw, &json!({ "usage": half })), [7, 0, 0, 0, 0]);
    // An absurdly large number does not break the sums.
    for many in [json!(1e300), json!(u64::MAX), json!(i64::MAX)] {
        raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": many } }));
    }
    let sums = raw.result("session.usage", &json!({}));
    assert_eq!(sums["total"]["calls"], 3);
}

/// Records four calls of two sessions, two models and two agents.
fn populate(raw: &mut Raw) {
    raw.result("session.open", &json!({ "session": "a", "agent": "coder", "model": "m1" }));
    raw.result("session.open", &json!({ "session": "b", "agent": "critic" }));
    for (session, model, prompt, cached, output) in [
        ("a", json!(null), 100, 40, 10),
        ("a", json!("m2"), 1000, 0, 20),
        ("b", json!("m2"), 300, 300, 5),
        ("b", json!(null), 50, 0, 1),
    ] {
        let usage = json!({ "prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": { "cached_tokens": cached } });
        record(raw, &json!({ "session": session, "model": model, "usage": usage }));
    }
}

#[test]
fn calls_are_added_up_by_session_model_agent_and_day() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    populate(&mut raw);
    // A call without a session counts in no session.
    record(&mut raw, &json!({ "usage": { "prompt_tokens": 5 } }));
    let all = [4, 1110, 36, 340, 0, 0, 1450, 1486];
    for (by, expected) in [
        (json!(null), vec![("a", [2, 1060, 30, 40, 0, 0, 1100, 1130]), ("b", [2, 50, 6, 300, 0, 0, 350, 356])]),
        (json!("session"), vec![("a", [2, 1060, 30, 40, 0, 0, 1100, 1130]), ("b", [2, 50, 6, 300, 0, 0, 350, 356])]),
        (
            json!("model"),
            vec![
                ("m2", [2, 1000, 25, 300, 0, 0, 1300, 1325]),
                ("m1", [1, 60, 10, 40, 0, 0, 100, 110]),
                ("unknown", [1, 50, 1, 0, 0, 0, 50, 51]),
            ],
        ),
        (
            json!("agent"),
            vec![("coder", [2, 1060, 30, 40, 0, 0, 1100, 1130]), ("critic", [2, 50, 6, 300, 0, 0, 350, 356])],
        ),
    ] {
        let sums = raw.result("session.usage", &json!({ "by": by }));
        let rows: Vec<(&str, [u64; 8])> =
            sums["rows"].as_array().unwrap().iter().map(|row| (row["key"].as_str().unwrap(), numbers(row))).collect();
        assert_eq!(rows, expected, "{by}");
        assert_eq!(numbers(&sums["total"]), all, "{by}");
        assert_eq!(sums["total"]["key"], json!(null));
    }
    let days = raw.result("session.usage", &json!({ "by": "day" }));
    let keys: Vec<&str> = days["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert!((1..=2).contains(&keys.len()), "one day, unless it is midnight: {keys:?}");
    for key in keys {
        let is_day = key.len() == 10 && key.split('-').all(|part| part.parse::<u32>().is_ok());
        assert!(is_day, "{key}");
    }
    assert_eq!(numbers(&days["total"]), all);

    let one = raw.result("session.usage", &json!({ "session": "b", "by": "model" }));
    assert_eq!((one["rows"].as_array().unwrap().len(), numbers(&one["total"])), (2, [2, 50, 6, 300, 0, 0, 350, 356]));
    let nobody = raw.result("session.usage", &json!({ "session": "nobody" }));
    assert_eq!((&nobody["rows"], numbers(&nobody["total"])), (&json!([]), [0; 8]));
    assert_eq!(kind(&raw.call("session.usage", &json!({ "by": "week" }))), "invalid_params");

    daemon.kill();
    let daemon = Daemon::start(&home);
    let sums = daemon.raw().result("session.usage", &json!({}));
    assert_eq!(numbers(&sums["total"]), all, "what was answered is kept");
}

#[test]
fn only_the_calls_since_then_count() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let began = now();
    record(&mut raw, &json!({ "session": "s", "usage": { "prompt_tokens": 1 } }));
    let between = now();
    record(&mut raw, &json!({ "session": "s", "usage": { "prompt_tokens": 10 } }));
    for (since, input) in [(0.0, 11), (began, 11), (between, 10), (now() + 1.0, 0), (-1e9, 11)] {
        let sums = raw.result("session.usage", &json!({ "since": since }));
        assert_eq!(sums["total"]["input"], json!(input), "{since}");
    }
}

#[test]
fn a_configured_session_is_told_how_full_its_window_is() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 200_000 }));
    for (prompt, should, pressure) in
        [(20_000, false, 0.1), (99_999, false, 0.5), (100_000, true, 0.5), (190_000, true, 0.95)]
    {
        let usage = json!({ "prompt_tokens": prompt, "completion_tokens": 1, "prompt_tokens_details": { "cached_tokens": prompt / 2 } });
        let told = raw.result("context.record_usage", &json!({ "session": "s", "usage": usage }));
        assert_eq!(told["should_compress"], json!(should), "{prompt}: {told}");
        assert!((told["pressure"].as_f64().unwrap() - pressure).abs() < 0.001, "{told}");
    }
    assert_eq!(raw.result("context.status", &json!({ "session": "s" }))["last_prompt_tokens"], 190_000);
    let bare = raw.result("context.record_usage", &json!({ "session": "t", "usage": null }));
    assert_eq!((&bare["should_compress"], &bare["pressure"]), (&json!(null), &json!(null)));
}

#[test]
fn what_each_agent_kept_spilled_and_compressed_on_a_day_is_one_request() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (session, agent, messages) in [("a", "codex", 3), ("b", "codex", 1), ("c", "coder", 2)] {
        raw.result("session.open", &json!({ "session": session, "agent": agent }));
        let said = |number| json!({ "role": "user", "content": format!("message {number}") });
        let messages: Vec<Value> = (0..messages).map(said).collect();
        let append = json!({ "session": session, "generation": 0, "position": 0, "messages": messages });
        raw.result("session.append", &append);
    }
    for id in ["1", "2"] {
        let content = format!("{id} {}", "x".repeat(200_000));
        raw.result("output.admit", &json!({ "session": "c", "tool": "terminal", "id": id, "content": content }));
    }
    let long = |number: usize| json!({ "role": if number.is_multiple_of(2) { "user" } else { "assistant" }, "content": "word ".repeat(400) });
    let list: Vec<Value> = (0..60).map(long).collect();
    raw.result("session.open", &json!({ "session": "d", "agent": "coder" }));
    raw.result("context.configure", &json!({ "session": "d", "context_length": 20_000, "summarizer": "extractive" }));
    let compressed = raw.result("context.compress", &json!({ "session": "d", "messages": list, "force": true }));
    assert_eq!(compressed["report"]["compressed"], true, "{compressed}");
    let counts = |row: &Value| ["spilled", "compressed"].map(|name| row[name].as_u64().unwrap());
    let read = raw.result("ledger.read", &json!({ "by": "day", "agents": true }));
    let of = |agent: &str| {
        let rows = read["rows"].as_array().unwrap().iter().filter(|row| row["agent"] == agent);
        // Around midnight an agent has two days.
        rows.map(counts).fold([0, 0], |[a, b], [c, d]| [a + c, b + d])
    };
    assert_eq!((of("codex"), of("coder"), counts(&read["total"])), ([0, 0], [2, 1], [2, 1]), "{read}");
    let kept = |row: &Value| row["messages"].as_u64().unwrap();
    assert_eq!(read["rows"].as_array().unwrap().iter().map(kept).sum::<u64>(), kept(&read["total"]));
    let agents = raw.result("ledger.read", &json!({ "by": "agent" }));
    let codex = agents["rows"].as_array().unwrap().iter().find(|row| row["key"] == "codex").unwrap();
    assert_eq!((kept(codex), &codex["agent"]), (4, &json!(null)));
    let one = raw.result("ledger.read", &json!({ "session": "c", "by": "day" }));
    assert_eq!((kept(&one["total"]), counts(&one["total"])), (2, [2, 0]));
}
