//! The length from which a result is spilled.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

use super::admit;

/// Whether a text of this many chars is spilled.
fn is_spilled(raw: &mut Raw, length: usize, more: &Value) -> bool {
    let text = "日".repeat(length);
    let admitted = admit(raw, &json!(text), more);
    let is_spilled = admitted["spilled"].as_bool().unwrap();
    assert_eq!(admitted["handle"].is_string(), is_spilled);
    assert_eq!(admitted["path"].is_string(), is_spilled);
    assert_eq!(admitted["content"] == json!(text), !is_spilled, "{more}");
    assert_eq!(admitted["failure"], json!(null));
    is_spilled
}

#[test]
fn the_call_beats_the_pin_beats_overrides_beat_the_tools_own() {
    let home = Home::configured(
        "[output]\ndefault_result_size = 2000\nmcp_result_size = 1500\n[output.tool_overrides]\nlog = \"inf\"\ngrep = 30\nmcp_git_log = 5\n",
    );
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let overrides = json!({ "tool_overrides": { "grep": 20, "read_file": 1, "chat": "inf" } });
    for (more, most) in [
        (json!({ "tool": "probe" }), Some(2000)),
        (json!({ "tool": "probe", "threshold": 0 }), Some(0)),
        (json!({ "tool": "probe", "threshold": 7 }), Some(7)),
        (json!({ "tool": "probe", "threshold": "inf" }), None),
        (json!({ "tool": "probe", "config": { "default_result_size": 9 } }), Some(9)),
        (json!({ "tool": "probe", "threshold": 7, "config": { "default_result_size": 9 } }), Some(7)),
        (json!({ "tool": "log" }), None),
        (json!({ "tool": "log", "threshold": 3 }), Some(3)),
        (json!({ "tool": "grep" }), Some(30)),
        (json!({ "tool": "grep", "config": overrides }), Some(20)),
        (json!({ "tool": "chat", "config": overrides }), None),
        (json!({ "tool": "read_file" }), None),
        (json!({ "tool": "read_file", "config": overrides }), None),
        (json!({ "tool": "read_file", "threshold": 5 }), Some(5)),
        (json!({ "tool": "mcp_web_fetch" }), Some(1500)),
        (json!({ "tool": "mcp_git_log" }), Some(5)),
        (json!({ "tool": "mcp" }), Some(2000)),
        // A tool's registered threshold takes precedence over the default.
        (json!({ "tool": "terminal" }), Some(100_000)),
    ] {
        match most {
            None => assert!(!is_spilled(&mut raw, 250_000, &more), "{more}"),
            Some(most) => {
                assert!(!is_spilled(&mut raw, most, &more), "{more}");
                assert!(is_spilled(&mut raw, most + 1, &more), "{more}");
            }
        }
    }
}

#[test]
fn tools_of_mcp_servers_have_a_smaller_limit_of_their_own() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (tool, most) in [("mcp_x_y", 50_000), ("probe", 100_000), ("execute_code", 100_000)] {
        assert!(!is_spilled(&mut raw, most, &json!({ "tool": tool })), "{tool}");
        assert!(is_spilled(&mut raw, most + 1, &json!({ "tool": tool })), "{tool}");
    }
}

#[test]
fn an_empty_content_is_never_spilled() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    for content in [json!(""), json!([]), json!([{ "type": "text", "text": "" }]), json!([image])] {
        let admitted = admit(&mut raw, &content, &json!({ "threshold": 0 }));
        assert_eq!((&admitted["spilled"], &admitted["content"]), (&json!(false), &content));
        assert_eq!((&admitted["chars"], &admitted["lines"]), (&json!(0), &json!(0)));
    }
    assert!(home.outputs().is_empty());
    for threshold in [json!(-1), json!(1.5), json!("infinite"), json!("Inf"), json!(true)] {
        let reply = raw.call(
            "output.admit",
            &json!({ "session": "s", "tool": "t", "id": "c", "content": "x", "threshold": threshold }),
        );
        assert_eq!(herma_tests::kind(&reply), "invalid_params", "{threshold}");
    }
}

#[test]
fn a_known_window_scales_every_limit_but_infinity() {
    let home = Home::configured("[output.tool_overrides]\nbig = 90_000\ntiny = 10\nlog = \"inf\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let check = |raw: &mut Raw, session: &str, tool: &str, most: usize| {
        let more = json!({ "session": session, "tool": tool });
        assert!(!is_spilled(raw, most, &more), "{session} {tool} {most}");
        assert!(is_spilled(raw, most + 1, &more), "{session} {tool} {most}");
    };
    for (session, window, expected) in
        [("small", 1_000, 8_000), ("middle", 20_000, 12_000), ("odd", 16_667, 10_000), ("large", 1_000_000, 100_000)]
    {
        raw.result("session.open", &json!({ "session": session, "context_length": window }));
        for tool in ["probe", "terminal"] {
            check(&mut raw, session, tool, expected);
        }
        check(&mut raw, session, "big", expected.min(90_000));
        check(&mut raw, session, "mcp_a_b", expected.min(50_000));
        check(&mut raw, session, "tiny", 10);
        for tool in ["log", "read_file"] {
            assert!(!is_spilled(&mut raw, 250_000, &json!({ "session": session, "tool": tool })), "{tool}");
        }
    }
    // A new window applies from the next call on, also after a restart.
    raw.result("context.configure", &json!({ "session": "middle", "context_length": 40_000 }));
    check(&mut raw, "middle", "probe", 24_000);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    check(&mut raw, "middle", "probe", 24_000);
    check(&mut raw, "unknown", "probe", 100_000);
}

#[test]
fn a_known_window_scales_a_turn() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (session, window, budget) in
        [("small", 1_000, 16_000), ("middle", 20_000, 24_000), ("large", 1_000_000, 200_000)]
    {
        raw.result("session.open", &json!({ "session": session, "context_length": window }));
        for (length, replaced) in [(budget, 0), (budget + 1, 1)] {
            let results = json!([{ "id": "c", "content": "x".repeat(length) }]);
            let settled = raw.result("output.settle_turn", &json!({ "session": session, "results": results }));
            assert_eq!(settled["replacements"].as_array().unwrap().len(), replaced, "{session} {length}");
        }
    }
}

#[test]
fn the_window_can_be_left_out_of_account() {
    let home = Home::configured("[output]\nscale_with_window = false\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "s", "context_length": 1_000 }));
    assert!(!is_spilled(&mut raw, 100_000, &json!({})));
    assert!(is_spilled(&mut raw, 100_001, &json!({})));
}
