//! A hook never fails its client: bad events, dead and frozen daemons, pipes.

use std::fs;
use std::time::{Duration, Instant};

use herma_tests::{Cli, CommandOutput, Daemon, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Client, ID, messages};

#[test]
fn whatever_goes_wrong_the_client_goes_on() {
    let home = Home::new();
    let mut client = Client::new(&home);
    let cli = Cli::new(&home).with("HERMAD", "/no/such/program");
    // At the beginning of a session the user sees the error, because nothing else shows it.
    for (client, input, why) in [
        ("claude-code", "{\"session_id\":\"a\"}", "no daemon answers"),
        ("codex", "{\"session_id\":\"a\"}", "no daemon answers"),
        ("claude-code", "no JSON", "the event is no JSON"),
        ("claude-code", "{\"session_id\":\"../../x\"}", "the event names no session"),
    ] {
        let answer = cli.run_with(&["hook", client, "session-start"], input).json();
        let words = answer["systemMessage"].as_str().unwrap();
        assert!(words.contains(why) && words.contains("`herma doctor`"), "{words}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    }
    for (arguments, input) in [
        (&["hook", "claude-code", "stop"][..], "{\"session_id\":\"a\"}"),
        (&["hook", "claude-code", "user-prompt-submit"], "no JSON"),
        (&["hook", "claude-code", "an-event-of-tomorrow"], "{}"),
        (&["hook", "another-client", "stop"], "{}"),
        (&["hook"], ""),
    ] {
        assert_eq!(cli.run_with(arguments, input).done(), "", "{arguments:?} {input}");
    }
    let daemon = Daemon::start(&home);
    let directory = json!({ "transcript_path": home.path() });
    assert_eq!(client.hook("stop", &directory).done(), "");
    kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::STOP).unwrap();
    let began = Instant::now();
    // An empty value means the default timeout.
    client.timeout = "";
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The next hooks don't wait for the daemon. The messages that they skip are read later.
    client.timeout = "30000";
    client.say("said while it was frozen");
    let began = Instant::now();
    for _ in 0..5 {
        assert_eq!(client.hook("stop", &json!({})).done(), "");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::CONT).unwrap();
    let log = client.log();
    assert!(log.contains("it was given up after"), "{log}");
    assert_eq!(log.matches("given up").count(), 1, "each hook waited: {log}");
    // After a few seconds a hook contacts the daemon again.
    let kept = || {
        drop(client.hook("stop", &json!({})).done());
        messages(&home, &format!("claude-code:{ID}"))
    };
    herma_tests::eventually("what was said is kept", || (kept() == Some(2)).then_some(()));
}

/// When the daemon is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Before,
    /// While the hook waits for its answer, this many milliseconds after the hook's start.
    In(u64),
    After,
}

#[test]
fn a_daemon_that_is_killed_before_in_and_after_each_hook_costs_nothing() {
    let home = Home::new();
    let mut client = Client::new(&home);
    client.timeout = "1500";
    client.hermad = Some("/no/such/program");
    let output = json!({ "tool_name": "Bash", "tool_use_id": "t", "tool_response": { "stdout": "x".repeat(40_000) } });
    let mut daemon = Daemon::start(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for (event, more) in [
        ("session-start", json!({ "source": "resume" })),
        ("user-prompt-submit", json!({ "prompt": "go" })),
        ("post-tool-use", output),
        ("pre-compact", json!({ "trigger": "auto" })),
        ("session-start", json!({ "source": "compact" })),
        ("stop", json!({})),
        ("session-end", json!({ "reason": "other" })),
    ] {
        for killed in [Killed::Before, Killed::In(3), Killed::In(30), Killed::After] {
            for number in 0..6 {
                client.say(&format!("look at host db-{number} before {event}, {killed:?}"));
            }
            if killed == Killed::Before {
                daemon.kill();
                assert_quiet(&client.hook(event, &more), event);
            } else if let Killed::In(pause_ms) = killed {
                kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::STOP).unwrap();
                std::thread::scope(|scope| {
                    let hook = scope.spawn(|| client.hook(event, &more));
                    // The point within the hook is random on purpose.
                    std::thread::sleep(Duration::from_millis(pause_ms));
                    daemon.kill();
                    assert_quiet(&hook.join().unwrap(), event);
                });
            } else {
                assert_quiet(&client.hook(event, &more), event);
                daemon.kill();
            }
            daemon = Daemon::start(&home);
        }
    }
    // Every message exists once. The compactions in between started new lists.
    assert_eq!(client.hook("stop", &json!({})).done(), "");
    let found = |words: &str| {
        let cli = Cli::new(&home);
        let session = format!("claude-code:{ID}");
        let all = ["--limit", "100", "--around", "0", "--json"];
        let hits = cli.run(&[&["recall", words, "--session", &session], &all[..]].concat()).json();
        let hits = hits["hits"].as_array().unwrap().clone();
        // The handoff of the compaction has some of the words, too.
        let own = |hit: &&Value| {
            ["look at", "done: look at"].iter().any(|words| hit["snippet"].as_str().unwrap().starts_with(words))
        };
        hits.iter().filter(own).count()
    };
    for event in ["user-prompt-submit", "post-tool-use", "pre-compact", "stop", "session-end"] {
        for killed in [Killed::Before, Killed::In(3), Killed::After] {
            let words = format!("\"before {event}, {killed:?}\"");
            // Six messages of the user, and six answers of the model.
            assert_eq!(found(&words), 12, "{words}");
        }
    }
}

/// Checks that a hook whose daemon goes away prints nothing or a whole answer, and never fails.
fn assert_quiet(ran: &CommandOutput, event: &str) {
    assert_eq!(ran.code, 0, "{event}: {ran:?}");
    let is_whole = ran.out.is_empty() || event == "pre-compact" || serde_json::from_str::<Value>(&ran.out).is_ok();
    assert!(is_whole, "{event}: {ran:?}");
}

/// Pipes replace the files that a hook reads and writes.
#[test]
fn a_hook_waits_for_no_pipe() {
    let pipe = |path: &std::path::Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    for name in [
        "herma/hermad.log",
        "herma/clients/claude-code/a.json",
        "herma/clients/claude-code/a.lock",
        "herma/clients/frozen",
        "projects/w/a.jsonl",
    ] {
        let home = Home::new();
        let daemon = (!name.ends_with("log")).then(|| Daemon::start(&home));
        pipe(&home.path().join(name));
        let transcript = home.path().join("projects/w/a.jsonl");
        let event = json!({ "session_id": "a", "transcript_path": transcript }).to_string();
        let began = Instant::now();
        let cli = Cli::new(&home).with("HERMAD", "/no/such/program").with("HERMA_HOOK_TIMEOUT_MS", "20000");
        for hook in ["session-start", "stop"] {
            drop(cli.run_with(&["hook", "claude-code", hook], &event).done());
        }
        assert!(began.elapsed() < Duration::from_secs(15), "{name}: {:?}", began.elapsed());
        drop(daemon);
    }
}
