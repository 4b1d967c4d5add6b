//! Homes that a daemon can't serve, or that another one serves already.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, kind};
use serde_json::json;

#[test]
fn a_second_daemon_leaves_and_says_who_was_first() {
    let home = Home::new();
    let first = Daemon::start(&home);
    let mut raw = first.raw();
    let second = Daemon::refused(&home);
    assert_eq!(second.code, Some(3), "{second:?}");
    assert!(second.words.contains(&format!("pid {}", first.pid())), "{second:?}");
    assert!(second.words.contains(home.path().to_str().unwrap()), "{second:?}");
    assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    first.assert_serves();
}

#[test]
fn a_socket_that_a_killed_daemon_left_is_reclaimed() {
    let home = Home::new();
    for _ in 0..3 {
        let daemon = Daemon::start(&home);
        daemon.assert_serves();
        daemon.kill();
        assert!(fs::symlink_metadata(home.socket()).unwrap().file_type().is_socket());
    }
    Daemon::start(&home).assert_serves();
}

#[test]
fn a_socket_that_somebody_else_listens_on_is_left_alone() {
    let home = Home::new();
    fs::create_dir(home.path().join("herma")).unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let refused = Daemon::refused(&home);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.words.contains(home.socket().to_str().unwrap()), "{refused:?}");
    drop(listener);
    Daemon::start(&home).assert_serves();
}

#[test]
fn a_regular_file_in_the_socket_s_place_is_left_alone() {
    let home = Home::new();
    fs::create_dir(home.path().join("herma")).unwrap();
    fs::write(home.socket(), "a letter").unwrap();
    let refused = Daemon::refused(&home);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.words.contains(home.socket().to_str().unwrap()), "{refused:?}");
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "a letter");
}

#[test]
fn a_file_in_the_place_of_the_daemon_s_folder_is_told() {
    let home = Home::new();
    let file = home.path().join("herma");
    fs::write(&file, "a file").unwrap();
    let refused = Daemon::refused(&home);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.words.contains(file.to_str().unwrap()), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "a file");
}

#[test]
fn a_file_in_the_place_of_the_stores_folder_refuses_writes_and_nothing_else() {
    let home = Home::new();
    let file = home.path().join("memories");
    fs::write(&file, "a file").unwrap();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (method, params) in [
        ("memory.add", json!({ "target": "user", "content": "x" })),
        ("memory.list", json!({})),
        ("session.open", json!({ "session": "s" })),
    ] {
        let reply = raw.call(method, &params);
        let error = &reply["error"];
        assert_eq!(error["data"]["fault"], "disk", "{method}: {reply}");
        assert!(error["message"].as_str().unwrap().contains(file.to_str().unwrap()), "{method}: {reply}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "a file");
    }
    let kept = json!({ "session": "s", "tool": "t", "id": "i", "content": "x".repeat(200), "threshold": 10 });
    assert_eq!(raw.call("output.admit", &kept)["result"]["spilled"], true);
    fs::remove_file(&file).unwrap();
    let mended = raw.call("memory.add", &json!({ "target": "user", "content": "x" }));
    assert_eq!(mended["result"]["success"], true, "{mended}");
    assert_eq!(home.entries(Target::User), ["x"]);
}

#[test]
fn an_archive_that_is_no_database_is_set_aside_and_a_new_one_begun() {
    let home = Home::new();
    fs::create_dir(home.path().join("herma")).unwrap();
    let archive = home.path().join("herma/archive.db");
    let junk = "not a database ".repeat(1000);
    fs::write(&archive, &junk).unwrap();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(raw.call("memory.add", &json!({ "target": "user", "content": "x" }))["result"]["success"], true);
    let opened = raw.call("session.open", &json!({ "session": "s" }));
    assert_eq!(opened["result"]["resumed"], false, "{opened}");
    let aside = home.path().join("herma/archive.db.damaged-1");
    let status = raw.call("status", &json!({}));
    let state = status["result"]["archive"]["state"].as_str().unwrap();
    assert!(state.starts_with("ok") && state.contains(aside.to_str().unwrap()), "{status}");
    assert_eq!(fs::read_to_string(&aside).unwrap(), junk);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let again = daemon.raw().call("session.open", &json!({ "session": "s" }));
    assert_eq!(again["result"]["resumed"], true, "{again}");
    assert_eq!(daemon.raw().call("status", &json!({}))["result"]["archive"]["state"], "ok");
}

#[test]
fn a_damaged_journal_is_told_and_left_alone() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for content in ["one", "two", "three"] {
        daemon.raw().call("memory.add", &json!({ "target": "user", "content": content }));
    }
    daemon.kill();
    let journal = home.path().join("herma/journal/default/user.jsonl");
    let damaged = fs::read_to_string(&journal).unwrap().replacen("\"two\"", "\"tWo\"", 1);
    fs::write(&journal, format!("{damaged}{{\"crc\":\"0123")).unwrap();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let added = raw.call("memory.add", &json!({ "target": "user", "content": "four" }));
    assert_eq!(added["result"]["revision"], 4, "{added}");
    let log = raw.call("memory.log", &json!({ "target": "user" }));
    let revisions: Vec<u64> =
        log["result"]["rows"].as_array().unwrap().iter().map(|row| row["revision"].as_u64().unwrap()).collect();
    assert_eq!((revisions, log["result"]["damaged"].as_u64()), (vec![4, 3, 1], Some(1)));
    assert_eq!(raw.call("status", &json!({}))["result"]["stores"][1]["journal"], "damaged");
    let gone = raw.call("memory.restore", &json!({ "target": "user", "revision": 2 }));
    assert_eq!(kind(&gone), "not_found", "{gone}");
    assert!(fs::read_to_string(&journal).unwrap().starts_with(&damaged));
    assert_eq!(home.entries(Target::User), ["one", "two", "three", "four"]);
}

#[test]
fn a_journal_that_can_t_be_read_is_left_alone() {
    let home = Home::new();
    let journal = home.path().join("herma/journal/default/user.jsonl");
    fs::create_dir_all(&journal).unwrap();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let reply = raw.call("memory.add", &json!({ "target": "user", "content": "two" }));
    assert_eq!(kind(&reply), "unreadable", "{reply}");
    assert_eq!(home.entries(Target::User), [""; 0]);
    fs::remove_dir(&journal).unwrap();
    let mended = raw.call("memory.add", &json!({ "target": "user", "content": "two" }));
    assert_eq!(mended["result"]["revision"], 1, "{mended}");
}

#[test]
fn a_home_that_does_not_exist_is_made_for_its_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.raw().call("memory.add", &json!({ "target": "user", "content": "one" }));
    daemon.raw().call("session.open", &json!({ "session": "s" }));
    let kept = json!({ "session": "s", "tool": "t", "id": "i", "content": "x", "threshold": 0 });
    daemon.raw().call("output.admit", &kept);
    let mode = |path: &str| fs::metadata(home.path().join(path)).unwrap().permissions().mode() & 0o777;
    for folder in ["herma", "memories", "herma/outputs", "herma/outputs/s", "herma/journal", "herma/journal/default"] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    for file in [
        "memories/USER.md",
        "herma/journal/default/user.jsonl",
        "herma/archive.db",
        "herma/hermad.log",
        "herma/hermad.sock",
        "herma/outputs/s/i.txt",
    ] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}
