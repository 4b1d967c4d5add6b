//! How a compression runs: one at a time, in phases, and cancelled with its client. Also what a killed daemon remembers
//! of it.

mod automatic;
mod continued;
mod scripted;
mod talk;

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

use scripted::Script;
use talk::{configure, conversation, grown, status, subscribed, told_of};

/// While a compression runs, one from another connection is refused. The first one ends with its connection.
#[test]
fn one_compression_runs_at_a_time_and_ends_with_its_connection() {
    let (home, script) = Script::home("");
    let daemon = Daemon::start(&home);
    configure(&mut daemon.raw(), json!({}));
    let mut first = daemon.raw();
    first.request("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    script.wait_for_call();
    let mut second = daemon.raw();
    let refused = second.call("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    assert_eq!(kind(&refused), "busy", "{refused}");
    let closing = second.call("session.close", &json!({ "session": "s" }));
    assert_eq!(kind(&closing), "busy", "{closing}");
    drop(first);
    script.answer("## Goal\nFreed.");
    let done = eventually("the session to be free", || {
        let reply = second.call(
            "context.compress",
            &json!({ "session": "s", "messages": conversation(60), "summarizer": "extractive" }),
        );
        (kind(&reply) != "busy").then_some(reply)
    });
    assert_eq!(done["result"]["report"]["generation"], 1, "{}", done["error"]);
    assert_eq!(status(&mut second)["compression_count"], 1);
}

#[test]
fn a_deadline_cancels_the_call_and_leaves_everything_as_it_was() {
    let (home, script) = Script::home("");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    let params = json!({ "session": "s", "messages": conversation(60), "deadline_ms": 700 });
    let late = raw.call("context.compress", &params);
    assert_eq!(kind(&late), "deadline_exceeded", "{late}");
    script.wait_for_call();
    eventually("the program to be killed", || script.is_gone().then_some(()));
    let after = status(&mut raw);
    assert_eq!((&after["compression_count"], &after["generation"]), (&json!(0), &json!(0)));
    assert_eq!(raw.result("recall.describe", &json!({ "session": "s" }))["compressions"], json!([]));
    script.answer("## Goal\nIn time.");
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    assert_eq!((&done["report"]["generation"], &done["report"]["summarizer"]), (&json!(1), &json!("command")));
}

#[test]
fn phases_and_the_end_are_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    let mut listener = subscribed(&daemon, &["compression.progress", "compression.done"]);
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    let mut phases = Vec::new();
    let mut before = -1.0;
    let report = loop {
        let (method, params) = told_of(&mut listener);
        assert_eq!(params["session"], "s");
        if method == "compression.done" {
            break params["report"].clone();
        }
        let share = params["done"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share) && share > before, "{params}");
        before = share;
        phases.push(params["phase"].as_str().unwrap().to_owned());
    };
    assert_eq!(phases, ["prune", "summarise", "check", "assemble"]);
    assert_eq!(report, done["report"]);
    let again = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(4) }));
    assert_eq!(told_of(&mut listener).0, "compression.progress");
    let (method, params) = told_of(&mut listener);
    assert_eq!((method.as_str(), &params["report"]), ("compression.done", &again["report"]));
}

/// Returns the remembered state of a session, without values that change with time.
fn remembered(raw: &mut Raw) -> Value {
    let mut status = status(raw);
    for field in ["cooldown_s", "wait_s"] {
        let left = status[field].as_f64().unwrap();
        status[field] = json!(left > 0.0);
    }
    status
}

#[test]
fn what_an_engine_remembers_survives_a_kill() {
    let (home, script) = Script::home("");
    script.fail("HTTP 500: out of order");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    let report = &done["report"];
    assert_eq!((&report["summarizer"], &report["fallback"]), (&json!("extractive"), &json!(true)), "{report}");
    assert!(report["error"].as_str().unwrap().contains("out of order"), "{report}");
    assert!(report["cooldown_s"].as_f64().unwrap() > 25.0, "{report}");
    raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8700 } }));
    // Twice there is nothing between head and tail, so the breaker opens.
    for _ in 0..2 {
        let list = talk::without_a_middle();
        let weak = raw.result("context.compress", &json!({ "session": "s", "messages": list }));
        assert_eq!(weak["report"]["compressed"], false, "{}", weak["report"]);
    }
    raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8800 } }));
    let before = remembered(&mut raw);
    assert_eq!((&before["breaker"], &before["ineffective_count"]), (&json!("open"), &json!(2)), "{before}");
    assert_eq!((&before["last_prompt_tokens"], &before["cooldown_s"]), (&json!(8800), &json!(true)), "{before}");
    assert!(before["previous_summary"].as_str().is_some_and(|summary| !summary.is_empty()));
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(remembered(&mut raw), before);
    // A window that is about to overflow ignores the summarizer's cooldown, but not the breaker.
    for (tokens, reason) in [(8000, "cooldown"), (8800, "breaker_open")] {
        let check = raw.result("context.check", &json!({ "session": "s", "tokens": tokens }));
        assert_eq!((&check["compress"], &check["reason"]), (&json!(false), &json!(reason)), "{check}");
    }
    let forced = json!({ "session": "s", "messages": grown(), "force": true });
    script.answer("## Goal\nForced.");
    let done = raw.result("context.compress", &forced);
    assert_eq!(done["report"]["summarizer"], "command", "{}", done["report"]);
}

#[test]
fn usage_that_is_reported_during_a_compression_is_not_lost() {
    let (home, script) = Script::home("");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8000 } }));
    let mut other = daemon.raw();
    other.request("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    script.wait_for_call();
    raw.result("context.record_usage", &json!({ "session": "s", "usage": { "prompt_tokens": 8444 } }));
    script.answer("## Goal\nWritten meanwhile.");
    let done = other.read();
    assert_eq!(done["result"]["report"]["compressed"], true, "{done}");
    let after = status(&mut raw);
    assert_eq!(after["last_real_prompt_tokens"], 8444);
    assert_eq!((&after["last_prompt_tokens"], &after["awaiting_real_usage"]), (&json!(-1), &json!(true)));
    assert_eq!(after["compression_count"], 1);
}

#[test]
fn the_fourth_compression_in_a_row_says_that_it_does_not_help() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    configure(&mut raw, json!({}));
    let mut list = json!(conversation(60));
    let run = |raw: &mut Raw, list: &Value| {
        let done = raw.result("context.compress", &json!({ "session": "s", "messages": list, "force": true }));
        let warnings = done["report"]["warnings"].to_string();
        (done["messages"].clone(), warnings.contains("does not help"))
    };
    let mut vain = Vec::new();
    for _ in 0..4 {
        let (next, is_vain) = run(&mut raw, &list);
        if next.as_array().unwrap().len() == list.as_array().unwrap().len() {
            // A declined compression does not count. The list must stay long enough.
            break;
        }
        list = next;
        vain.push(is_vain);
    }
    assert!(vain.iter().take(3).all(|is_vain| !is_vain), "{vain:?}");
    assert!(vain.len() < 4 || vain[3], "{vain:?}");
}
