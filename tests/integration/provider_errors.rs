//! The facts in a provider's error, and those that the daemon remembers.

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

const NAMED: &str = "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.";
const UNNAMED: &str = "Your input exceeds the context window of this model.";

fn configure(raw: &mut Raw, params: &Value) -> u64 {
    raw.result("context.configure", params)["context_length"].as_u64().unwrap()
}

fn classify(raw: &mut Raw, session: &str, text: &str) -> Value {
    raw.result("context.classify_error", &json!({ "session": session, "text": text, "status": 400 }))
}

#[test]
fn a_window_that_a_provider_names_outlives_the_daemon() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let local = json!({ "session": "a", "model": "m", "base_url": "http://local/v1", "context_length": 128_000 });
    assert_eq!(configure(&mut raw, &local), 128_000);
    let found = classify(&mut raw, "a", NAMED);
    let expected = json!({ "kind": "input_too_long", "context_limit": 32_768, "lower_limit": 32_768,
        "available_output": null, "next_tier": 64_000 });
    assert_eq!(found, expected);
    daemon.kill();

    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    // An explicit setting stays until it is set again.
    let status = raw.result("context.status", &json!({ "session": "a" }));
    assert_eq!(status["context_length"], 128_000);
    let same = json!({ "session": "b", "model": "m", "base_url": "http://local/v1" });
    assert_eq!(configure(&mut raw, &same), 32_768);
    let explicit = json!({ "session": "c", "model": "m", "base_url": "http://local/v1", "context_length": 65_536 });
    assert_eq!(configure(&mut raw, &explicit), 65_536);
    for other in [
        json!({ "session": "d", "model": "m" }),
        json!({ "session": "d", "model": "m", "base_url": "http://other/v1" }),
        json!({ "session": "d", "model": "n", "base_url": "http://local/v1" }),
    ] {
        assert_eq!(kind(&raw.call("context.configure", &other)), "invalid_params", "{other}");
    }
    // Another model has its own window.
    let before = json!({ "session": "e", "model": "n", "base_url": "http://local/v1", "context_length": 200_000 });
    assert_eq!(configure(&mut raw, &before), 200_000);
    assert_eq!(configure(&mut raw, &json!({ "session": "e", "threshold": 0.6 })), 200_000);
    assert_eq!(configure(&mut raw, &json!({ "session": "e", "model": "m" })), 32_768);
    assert_eq!(configure(&mut raw, &json!({ "session": "e", "model": "n" })), 32_768);
}

#[test]
fn a_session_is_opened_with_the_window_of_its_model() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "a", "model": "m", "context_length": 128_000 }));
    classify(&mut raw, "a", NAMED);
    raw.result("session.open", &json!({ "session": "b", "model": "m" }));
    raw.result("session.open", &json!({ "session": "c", "model": "m", "context_length": 64_000 }));
    let mut window =
        |session: &str| raw.result("context.status", &json!({ "session": session }))["context_length"].as_u64();
    assert_eq!(window("b"), Some(32_768));
    assert_eq!(window("c"), Some(64_000));
    assert_eq!(window("a"), Some(128_000));
}

#[test]
fn only_a_lower_window_that_was_named_is_remembered() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let set = |session: &str, model: &str| json!({ "session": session, "model": model, "context_length": 32_768 });
    for (model, text, found) in [
        ("guessed", UNNAMED, json!({ "kind": "input_too_long", "context_limit": null, "next_tier": 32_000 })),
        ("equal", NAMED, json!({ "kind": "input_too_long", "context_limit": 32_768, "lower_limit": null })),
        ("larger", "prompt is too long: 208310 tokens > 200000 maximum", json!({ "kind": "input_too_long" })),
        (
            "rate",
            "Rate limit reached: tokens per min (TPM): Limit 30000",
            json!({ "kind": "other", "context_limit": null }),
        ),
        (
            "output",
            "max_tokens: 32768 > context_window: 32768 - input_tokens: 30000 = available_tokens: 2768",
            json!({ "kind": "output_cap", "available_output": 2_768 }),
        ),
    ] {
        configure(&mut raw, &set(model, model));
        let answer = classify(&mut raw, model, text);
        for (name, expected) in found.as_object().unwrap() {
            assert_eq!(&answer[name], expected, "{model} {name}");
        }
        let fresh = json!({ "session": format!("{model}-2"), "model": model });
        assert_eq!(kind(&raw.call("context.configure", &fresh)), "invalid_params", "{model}");
    }
    // Without a session or without a model, nothing is remembered.
    raw.result("context.classify_error", &json!({ "text": NAMED, "current": 128_000 }));
    raw.result("context.configure", &json!({ "session": "bare", "context_length": 128_000 }));
    classify(&mut raw, "bare", NAMED);
    assert_eq!(kind(&raw.call("context.configure", &json!({ "session": "bare-2", "model": "" }))), "invalid_params");
}

#[test]
fn long_errors_are_read_too() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let text = format!("{} {NAMED}", "x ".repeat(2 << 20));
    let found = raw.result("context.classify_error", &json!({ "text": text, "current": 8_192 }));
    assert_eq!(
        (&found["context_limit"], &found["lower_limit"], &found["next_tier"]),
        (&json!(32_768), &json!(null), &json!(8_000))
    );
}

#[test]
fn cache_marks_leave_the_rest_as_it_was_sent() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let messages = r#"[{ "role":"system","content":"s\u00e9" },{"role":"user", "x":1.0,"content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"user","content":"d"}]"#;
    raw.line(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"context.cache_control","params":{{"messages":{messages},"ttl":"1h"}}}}"#
    ));
    raw.finish();
    let answer = String::from_utf8(raw.rest()).unwrap();
    assert!(answer.contains(r#"{"role":"user", "x":1.0,"content":"a"}"#), "{answer}");
    assert!(answer.contains(r#""text": "s\u00e9", "cache_control": {"type": "ephemeral", "ttl": "1h"}"#), "{answer}");
    assert_eq!(answer.matches("cache_control").count(), 4);
}

#[test]
fn a_compression_by_hand_is_four_questions() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let user = |text: &str| json!({ "role": "user", "content": text });
    let reply = |text: &str| json!({ "role": "assistant", "content": text });
    let history = json!([user("a"), reply("b"), user("c"), reply("d")]);
    let halves = raw.result("context.manual", &json!({ "history": history, "keep": 1 }));
    assert_eq!(halves, json!({ "head": [user("a"), reply("b")], "tail": [user("c"), reply("d")] }));
    assert_eq!(raw.result("context.manual", &halves), json!({ "messages": history }));
    let parsed = raw.result("context.manual", &json!({ "text": "here 7" }));
    assert_eq!(parsed, json!({ "partial": true, "keep": 7, "focus": null }));
    let told = raw.result(
        "context.manual",
        &json!({ "before": history, "after": [user("a")], "tokens_before": 12_000, "tokens_after": 900 }),
    );
    assert_eq!(told["token_line"], "Approx request size: ~12,000 → ~900 tokens");
    for wrong in [
        json!({}),
        json!({ "text": "here", "keep": 2 }),
        json!({ "history": [] }),
        json!({ "head": [] }),
        json!({ "before": [], "after": [], "tokens_before": 1 }),
        json!({ "history": [], "keep": -1 }),
    ] {
        assert_eq!(kind(&raw.call("context.manual", &wrong)), "invalid_params", "{wrong}");
    }
}
