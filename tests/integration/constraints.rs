//! Rules of the user: kept for their session, and quoted in every handoff.

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

fn add(raw: &mut Raw, text: &str) -> Value {
    raw.result("constraint.add", &json!({ "session": "s", "text": text }))["id"].clone()
}

fn listed(raw: &mut Raw) -> Vec<Value> {
    raw.result("constraint.list", &json!({ "session": "s" }))["constraints"].as_array().unwrap().clone()
}

fn texts(raw: &mut Raw) -> Vec<String> {
    listed(raw).iter().map(|rule| rule["text"].as_str().unwrap().to_owned()).collect()
}

fn conversation(first: &str) -> Vec<Value> {
    let said = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        let text = if at == 20 { first.to_owned() } else { "of the conversation ".repeat(60) };
        json!({ "role": role, "content": format!("{text} {at}") })
    };
    (0..80).map(said).collect()
}

#[test]
fn rules_are_added_listed_and_removed_and_survive_a_kill() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert!(listed(&mut raw).is_empty());
    let id = add(&mut raw, " never push to main \n");
    assert!(id.as_str().unwrap().starts_with("c_") && id.as_str().unwrap().len() == 14, "{id}");
    assert_eq!(add(&mut raw, "never  push to\nmain"), id);
    let once = json!({ "session": "s", "text": "don't touch the tests yet", "scope": "once" });
    let other = raw.result("constraint.add", &once)["id"].clone();
    for _ in 0..2 {
        let rules = listed(&mut raw);
        let fields = |rule: &Value| ["id", "scope", "source"].map(|field| rule[field].clone());
        assert_eq!(fields(&rules[0]), [id.clone(), json!("standing"), json!("explicit")]);
        assert_eq!(fields(&rules[1]), [other.clone(), json!("once"), json!("explicit")]);
        assert!(rules[0]["at"].as_f64().unwrap() <= rules[1]["at"].as_f64().unwrap());
        daemon.kill();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
    }
    raw.result("constraint.remove", &json!({ "session": "s", "id": id }));
    assert_eq!(texts(&mut raw), ["don't touch the tests yet"]);
    for unknown in [&id, &json!("c_none")] {
        let reply = raw.call("constraint.remove", &json!({ "session": "s", "id": unknown }));
        assert_eq!(kind(&reply), "not_found", "{reply}");
    }
    assert_eq!(add(&mut raw, "never push to main"), id);
    assert_eq!(listed(&mut raw).len(), 2);
}

#[test]
fn a_rule_that_can_t_be_kept_is_refused() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for text in [String::new(), " \n".into(), "é".repeat(2001)] {
        let reply = raw.call("constraint.add", &json!({ "session": "s", "text": text }));
        assert_eq!(kind(&reply), "invalid_params", "{reply}");
    }
    add(&mut raw, &"é".repeat(2000));
    for at in 1..500 {
        add(&mut raw, &format!("never do {at}"));
    }
    let reply = raw.call("constraint.add", &json!({ "session": "s", "text": "never do more" }));
    assert_eq!(kind(&reply), "too_large", "{reply}");
    let known = add(&mut raw, "never do 7");
    raw.result("constraint.remove", &json!({ "session": "s", "id": known }));
    add(&mut raw, "never do more");
}

#[test]
fn handoffs_quote_the_rules_and_those_that_the_user_gave_are_found() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
    add(&mut raw, "always run the linter before a commit");
    let list = conversation("Never delete the folder /srv/archive under any circumstances.");
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": list }));
    let handoff = done["messages"].to_string();
    assert!(handoff.contains("always run the linter before a commit"), "{handoff}");
    assert!(handoff.contains("Never delete the folder /srv/archive"), "{handoff}");
    assert_eq!(done["report"]["constraints"], 2, "{}", done["report"]);
    daemon.kill();
    daemon = Daemon::start(&home);
    raw = daemon.raw();
    let rules = listed(&mut raw);
    let found = rules.iter().find(|rule| rule["source"] == "found").unwrap();
    assert!(found["text"].as_str().unwrap().contains("/srv/archive"), "{found}");
    raw.result("constraint.remove", &json!({ "session": "s", "id": found["id"] }));
    let again = raw.result("context.compress", &json!({ "session": "s", "messages": list, "force": true }));
    assert_eq!(again["report"]["constraints"], 1, "{}", again["report"]);
    assert_eq!(texts(&mut raw), ["always run the linter before a commit"]);
    drop(daemon);
}
