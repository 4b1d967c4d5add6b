//! When to compress: the answers of `context.check`, `context.reset` and `record_usage`.

use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use super::talk::{configure, conversation, status};

fn reason(check: &Value) -> (bool, &str) {
    (check["compress"].as_bool().unwrap(), check["reason"].as_str().unwrap())
}

#[test]
fn a_check_follows_the_threshold_and_what_is_known() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(herma_tests::kind(&raw.call("context.check", &json!({ "session": "s" }))), "not_found");
    raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!(herma_tests::kind(&raw.call("context.check", &json!({ "session": "s" }))), "invalid_params");
    configure(&mut raw, json!({}));
    // 85 % of 9,000.
    let unknown = raw.result("context.check", &json!({ "session": "s" }));
    assert_eq!((reason(&unknown), &unknown["threshold"]), ((false, "below_threshold"), &json!(7650)), "{unknown}");
    let over = raw.result("context.check", &json!({ "session": "s", "tokens": 7650 }));
    assert_eq!((reason(&over), &over["tokens"]), ((true, "over_threshold"), &json!(7650)), "{over}");
    assert!((over["pressure"].as_f64().unwrap() - 0.85).abs() < 1e-9 && over["wait_s"] == 0.0, "{over}");
    let used = raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8000 } }));
    assert_eq!(used["should_compress"], true);
    assert_eq!(reason(&raw.result("context.check", &json!({ "session": "s" }))), (true, "over_threshold"));

    let list = json!({ "session": "s", "messages": conversation(60) });
    assert_eq!(reason(&raw.result("context.check", &list)), (true, "over_threshold"));
    let few = json!({ "session": "s", "messages": conversation(60)[..3], "system_prompt": "word ".repeat(9000) });
    assert_eq!(reason(&raw.result("context.check", &few)), (false, "nothing_to_compress"));
    let both = json!({ "session": "s", "messages": [], "tokens": 1 });
    assert_eq!(herma_tests::kind(&raw.call("context.check", &both)), "invalid_params");
}

#[test]
fn a_person_is_told_when_a_compression_leaves_the_window_full() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    let mut messages = conversation(60);
    messages.push(json!({ "role": "user", "content": "word ".repeat(7200) }));
    let asked = json!({ "session": "s", "messages": messages });
    let report = raw.result("context.compress", &asked)["report"].clone();
    let told = |report: &Value| report["warnings"].to_string().contains("still nearly full");
    assert!(report["compressed"] == true && told(&report), "{report}");
    let roomy = json!({ "session": "s", "messages": conversation(60) });
    let report = raw.result("context.compress", &roomy)["report"].clone();
    assert!(report["compressed"] == true && !told(&report), "{report}");
}

#[test]
fn what_the_provider_counts_corrects_later_estimates() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({ "context_length": 200_000 }));
    let list = json!({ "session": "s", "messages": conversation(60) });
    let first = raw.result("context.check", &list)["tokens"].as_u64().unwrap();
    let usage = json!({ "session": "s", "usage": { "prompt_tokens": first * 2 } });
    raw.result("context.record_usage", &usage);
    assert_eq!(raw.result("context.check", &list)["tokens"], first * 2);
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.raw().result("context.check", &list)["tokens"], first * 2);
}

#[test]
fn a_session_that_compresses_too_often_is_held_back_and_a_reset_frees_it() {
    let home = Home::configured("[context]\nmax_per_hour = 2\n");
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    for _ in 0..2 {
        let check = raw.result("context.check", &json!({ "session": "s", "tokens": 8400 }));
        assert_eq!(reason(&check), (true, "over_threshold"), "{check}");
        let done = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
        assert_eq!(done["report"]["compressed"], true, "{}", done["report"]);
    }
    for _ in 0..2 {
        let held = raw.result("context.check", &json!({ "session": "s", "tokens": 8400 }));
        assert_eq!(reason(&held), (false, "rate_limited"), "{held}");
        assert!((1.0..=3600.0).contains(&held["wait_s"].as_f64().unwrap()), "{held}");
        let overflows = raw.result("context.check", &json!({ "session": "s", "tokens": 8999 }));
        assert_eq!(reason(&overflows), (true, "over_threshold"), "{overflows}");
        let used = raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8400 } }));
        assert_eq!(used["should_compress"], false);
        daemon.kill();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
    }
    let reset = raw.result("context.reset", &json!({ "session": "s" }));
    assert_eq!((&reset["compression_count"], &reset["generation"]), (&json!(0), &json!(2)));
    assert_eq!((&reset["savings_pct"], &reset["previous_summary"]), (&json!(100.0), &json!(null)));
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(status(&mut raw), reset);
    let check = raw.result("context.check", &json!({ "session": "s", "tokens": 8400 }));
    assert_eq!(reason(&check), (true, "over_threshold"), "{check}");
}

#[test]
fn what_is_switched_off_is_never_due() {
    let home = Home::configured("[context]\nenabled = false\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    for tokens in [1, 8999] {
        let check = raw.result("context.check", &json!({ "session": "s", "tokens": tokens }));
        assert_eq!(reason(&check), (false, "disabled"));
    }
}
