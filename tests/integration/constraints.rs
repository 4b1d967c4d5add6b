//! Rules of the user. They are stored with their session and quoted in every handoff.

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
    assert_eq!(kind(&raw.call("constraint.list", &json!({ "session": "s" }))), "not_found");
    raw.result("session.open", &json!({ "session": "s" }));
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

/// Regression test: a rule showed the first and last letters of its key.
#[test]
fn a_handoff_without_a_model_has_nothing_of_a_key() {
    let key = "BFDKMQRSXZ2345678JLNPWVHGCTYQZXW7654";
    let words = [
        format!("Never print ghp_{key} in a log. Please deploy with DEPLOY_TOKEN={key} now."),
        format!("error: login failed, Authorization: Bearer {key} was refused"),
    ];
    // If the summarizer is missing, the handoff has the record instead.
    for config in [
        "",
        "[summarizer]\nchain = [\"openai\"]\n[summarizer.openai]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\"\n",
    ] {
        let home = Home::configured(config);
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000, "model": "m" }));
        add(&mut raw, &format!("Always use sk-proj-{key} for the deploy."));
        let mut list = conversation(&words[0]);
        list[21]["content"] = json!(words[1]);
        let done = raw.result("context.compress", &json!({ "session": "s", "messages": list }));
        assert_eq!(done["report"]["fallback"], !config.is_empty());
        let messages = done["messages"].as_array().unwrap();
        let handoff = messages.iter().find(|message| message["_compressed_summary"] == true).unwrap().to_string();
        for part in key.as_bytes().windows(4).map(|part| std::str::from_utf8(part).unwrap()) {
            assert!(!handoff.contains(part), "{part} in {handoff}");
        }
        let [rules, asked] = ["Always use [REDACTED] for the deploy", "Never print [REDACTED] in a log"];
        assert!(handoff.contains(rules) && handoff.contains(asked), "{handoff}");
        assert!(listed(&mut raw)[0]["text"].as_str().unwrap().contains(key), "the rule itself stays as it was given");
    }
}
