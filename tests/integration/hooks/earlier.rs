//! The places of earlier sessions that the first prompt of a session gets.

use std::fs;

use herma_tests::{Cli, CommandOutput, Daemon, Home};
use serde_json::{Value, json};

use super::Client;

/// The id of another session than that of [`Client`].
const OTHER: &str = "0b5f1c1e-0000-4000-8000-000000000002";

const QUESTION: &str = "why did we drop the retry in the heron sync?";

/// Calls a hook of another session.
fn hook(home: &Home, event: &str, more: &Value) -> CommandOutput {
    let mut input = json!({ "session_id": OTHER, "transcript_path": home.path().join(format!("{OTHER}.jsonl")) });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Cli::new(home).with("HERMA_HOOK_TIMEOUT_MS", "30000").run_with(&["hook", "claude-code", event], &input.to_string())
}

/// Fills an earlier session with an answer to the question, and with much else.
fn earlier(home: &Home) {
    let mut client = Client::new(home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    client.say("we drop the retry in the heron sync, because the peer counts each try");
    for number in 0..30 {
        client.say(&format!("look at host db-{number} and its port"));
    }
    drop(client.hook("session-end", &json!({ "reason": "other" })).done());
}

#[test]
fn the_first_prompt_gets_what_fits_it_and_no_other_does() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    earlier(&home);
    let none = Cli::new(&home).run(&["log", "--last", "--json"]).json();
    assert_eq!(none.as_array().unwrap().iter().filter(|one| one["kind"] != "window").count(), 0, "{none}");
    drop(hook(&home, "session-start", &json!({ "source": "startup" })).done());
    let answer = hook(&home, "user-prompt-submit", &json!({ "prompt": QUESTION })).done();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let added = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(added.contains("because the peer counts each try") && added.contains("claude-code:0b5f1c1e"), "{added}");
    assert!(added.chars().count() <= 2_400 && !added.contains("db-7"), "{added}");
    assert_eq!(hook(&home, "user-prompt-submit", &json!({ "prompt": QUESTION })).done(), "");
    let receipts = Cli::new(&home).run(&["log", "--last"]).done();
    assert!(
        receipts.contains(OTHER) && receipts.contains("earlier sessions") && receipts.contains("counts each try"),
        "{receipts}"
    );
}

#[test]
fn prompts_that_nothing_fits_get_nothing_and_one_key_turns_it_off() {
    for (config, prompt) in [
        ("", "please write a parser for the new format of the logs"),
        ("", "go on"),
        ("", "/review why did we drop the retry in the heron sync?"),
        ("[recall]\nat_prompt = false\n", QUESTION),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.path().join("herma")).unwrap();
        fs::write(home.path().join("herma/config.toml"), config).unwrap();
        let _daemon = Daemon::start(&home);
        earlier(&home);
        drop(hook(&home, "session-start", &json!({ "source": "startup" })).done());
        assert_eq!(hook(&home, "user-prompt-submit", &json!({ "prompt": prompt })).done(), "", "{config:?} {prompt}");
    }
}

#[test]
fn another_profile_stays_out_of_a_prompt() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "private", "profile": "private" }));
    let said =
        json!([{ "role": "user", "content": "we drop the retry in the heron sync, because the peer counts each try" }]);
    raw.result(
        "session.append",
        &json!({ "session": "private", "profile": "private", "generation": 0, "position": 0, "messages": said }),
    );
    drop(hook(&home, "session-start", &json!({ "source": "startup" })).done());
    assert_eq!(hook(&home, "user-prompt-submit", &json!({ "prompt": QUESTION })).done(), "");
}
