//! A compression that ends its session and starts another one.

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

use super::talk::{WINDOW, conversation};

fn open(raw: &mut Raw) {
    let params = json!({ "session": "s", "title": "work", "agent": "a", "model": "m", "context_length": WINDOW });
    raw.result("session.open", &params);
}

fn show(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.show", &json!({ "session": session }))
}

#[test]
fn a_new_session_goes_on_with_everything_but_what_left_the_list() {
    for is_appended in [false, true] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        open(&mut raw);
        raw.result("constraint.add", &json!({ "session": "s", "text": "never push to main" }));
        raw.result("memory.add", &json!({ "target": "memory", "content": "learnt meanwhile" }));
        let list = conversation(60);
        if is_appended {
            let params = json!({ "session": "s", "generation": 0, "position": 0, "messages": list });
            raw.result("session.append", &params);
        }
        let given = if is_appended { Value::Null } else { json!(list) };
        let done = raw.result("context.compress", &json!({ "session": "s", "messages": given, "mode": "continue" }));
        let report = &done["report"];
        assert_eq!((&report["session"], &report["generation"]), (&json!("s-c2"), &json!(0)), "{report}");
        daemon.kill();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let before = show(&mut raw, "s");
        assert_eq!(before["end_reason"], "compression", "{before}");
        let next = show(&mut raw, "s-c2");
        assert_eq!((&next["parent"], &next["title"], &next["agent"]), (&json!("s"), &json!("work #2"), &json!("a")));
        assert_eq!((&next["model"], &next["generation"]), (&json!("m"), &json!(0)));
        assert_eq!(raw.result("session.tip", &json!({ "session": "s" }))["session"], "s-c2");
        let status = raw.result("context.status", &json!({ "session": "s-c2" }));
        assert_eq!((&status["compression_count"], &status["context_length"]), (&json!(1), &json!(WINDOW)), "{status}");
        assert!(status["previous_summary"].is_string());
        let rules = raw.result("constraint.list", &json!({ "session": "s-c2" }));
        assert_eq!(rules["constraints"][0]["text"], "never push to main");
        let snapshot = raw.result("session.snapshot", &json!({ "session": "s-c2" }));
        assert!(snapshot["memory"].as_str().unwrap().contains("learnt meanwhile"), "{snapshot}");
        let described = raw.result("recall.describe", &json!({ "session": "s" }));
        assert_eq!(described["compressions"][0]["messages"], report["archived"]["messages"]);
        let inherited = raw.result("recall.describe", &json!({ "session": "s-c2" }));
        assert_eq!(inherited["compressions"], described["compressions"]);
        let word = list[20]["content"].as_str().unwrap().split_whitespace().next().unwrap().to_owned();
        let found = raw.result("recall.search", &json!({ "query": word, "session": "s-c2" }));
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{word}");
        // The transcript of the new session continues from the new list.
        let length = if is_appended { done["messages"].as_array().unwrap().len() } else { 0 };
        let params = json!({ "session": "s-c2", "generation": 0, "position": length, "messages": [list[0]] });
        assert_eq!(raw.result("session.append", &params)["position"], length + 1);
        let list = if is_appended { Value::Null } else { json!(conversation(60)) };
        let again = json!({ "session": "s-c2", "messages": list, "mode": "continue", "force": true });
        assert_eq!(raw.result("context.compress", &again)["report"]["session"], "s-c3");
    }
}

#[test]
fn the_configuration_can_make_it_the_rule() {
    let home = Home::configured("[context]\nmode = \"continue\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw);
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": conversation(60) }));
    assert_eq!(done["report"]["session"], "s-c2");
    let params = json!({ "session": "s-c2", "messages": conversation(60), "mode": "in_place" });
    assert_eq!(raw.result("context.compress", &params)["report"]["session"], "s-c2");
    let wrong = json!({ "session": "s-c2", "messages": [], "mode": "elsewhere" });
    assert_eq!(kind(&raw.call("context.compress", &wrong)), "invalid_params");
}
