//! The transcript that hooks read: rewritten, late, read twice, or missing.

use std::fs;

use herma_tests::{Daemon, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Client, ID, messages};

#[test]
fn a_transcript_that_was_written_anew_is_another_session() {
    for (cut, says) in [(1, 1), (1, 4)] {
        let home = Home::new();
        let _daemon = Daemon::start(&home);
        let mut client = Client::new(&home);
        for number in 0..10 {
            client.say(&format!("look at host db-{number}"));
        }
        drop(client.hook("stop", &json!({})).done());
        let text = fs::read_to_string(&client.transcript).unwrap();
        let kept: Vec<&str> = text.lines().take(20 - cut).collect();
        fs::write(&client.transcript, kept.join("\n") + "\n").unwrap();
        for number in 0..says {
            client.say(&format!("another way, {number}, of which much more is said than before"));
        }
        drop(client.hook("stop", &json!({})).done());
        drop(client.hook("stop", &json!({})).done());
        let session = format!("claude-code:{ID}");
        assert_eq!(messages(&home, &session), Some(20));
        assert_eq!(messages(&home, &format!("{session}~2")), Some((20 - cut + 2 * says) as u64));
        assert!(client.log().contains("was rewritten"), "{}", client.log());
    }
}

#[test]
fn lost_notes_double_nothing() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    let notes = home.path().join(format!("herma/clients/claude-code/{ID}.json"));
    let session = format!("claude-code:{ID}");
    for number in 0..20 {
        client.say(&format!("look at host db-{number}"));
    }
    drop(client.hook("stop", &json!({})).done());
    fs::remove_file(&notes).unwrap();
    drop(client.hook("stop", &json!({})).done());
    assert_eq!(messages(&home, &session), Some(40));
    drop(client.hook("pre-compact", &json!({})).done());
    let compacted = messages(&home, &session);
    fs::remove_file(&notes).unwrap();
    client.say("more");
    drop(client.hook("stop", &json!({})).done());
    assert_eq!((messages(&home, &session), messages(&home, &format!("{session}~2"))), (compacted, Some(42)));
}

#[test]
fn what_was_late_at_the_end_is_read_when_the_next_session_begins() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    client.say("first");
    drop(client.hook("stop", &json!({})).done());
    client.say("last");
    let pid = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    client.timeout = "500";
    drop(client.hook("session-end", &json!({ "reason": "other" })).done());
    client.timeout = "30000";
    kill_process(pid, Signal::CONT).unwrap();
    let session = format!("claude-code:{ID}");
    assert_eq!(messages(&home, &session), Some(2));
    let next = json!({ "session_id": "next", "transcript_path": home.path().join("next.jsonl"), "source": "startup" });
    drop(client.hook("session-start", &next).done());
    assert_eq!(messages(&home, &session), Some(4));
}

#[test]
fn a_transcript_that_is_not_where_the_client_says_is_found_or_missed_aloud() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    let projects = home.path().join("projects");
    let (main, worktree) = (projects.join("-w-repo"), projects.join("-w-repo--claude-worktrees-feat"));
    fs::create_dir_all(&main).unwrap();
    client.transcript = main.join(format!("{ID}.jsonl"));
    client.say("said in a worktree");
    let said = json!({ "transcript_path": worktree.join(format!("{ID}.jsonl")) });
    for event in ["session-start", "user-prompt-submit", "stop", "session-end"] {
        drop(client.hook(event, &said).done());
    }
    assert_eq!(messages(&home, &format!("claude-code:{ID}")), Some(2));
    assert_eq!(client.log().matches("it is read at").count(), 1, "{}", client.log());
    let nowhere = json!({ "session_id": "nowhere", "transcript_path": worktree.join("nowhere.jsonl") });
    for event in ["session-start", "user-prompt-submit"] {
        drop(client.hook(event, &nowhere).done());
    }
    assert!(!client.log().contains("nowhere"), "nothing was said yet: {}", client.log());
    for _ in 0..2 {
        drop(client.hook("stop", &nowhere).done());
    }
    assert_eq!(client.log().matches("nothing of the session is kept").count(), 1, "{}", client.log());
}
