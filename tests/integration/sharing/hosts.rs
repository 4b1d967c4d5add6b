//! Hosts that can all reach the database.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use herma_protocol::memory::Target;
use herma_tests::eventually;
use serde_json::json;

use super::{Host, converged, server};

#[test]
fn what_one_host_writes_all_have_and_say_who_wrote_it() {
    let Some(server) = server() else { return };
    let one = Host::new(&server, "attic", "");
    one.home.write_store(Target::User, "likes tea".as_bytes());
    assert_eq!(one.refused("memory.add", &json!({ "target": "user", "content": "x" })), "unavailable");
    let status = one.ask("shared.status", &json!({}));
    assert_eq!((status.get("messages"), status.get("sessions")), (None, None), "nothing goes anywhere yet");
    let joined = one.ask("shared.join", &json!({}));
    assert_eq!(joined["stores"][1]["brought"], json!(["likes tea"]));
    let other = Host::new(&server, "cellar", "");
    other.home.write_store(Target::User, "owns a cat\n§\nlikes tea".as_bytes());
    let joined = other.ask("shared.join", &json!({}));
    assert_eq!(joined["stores"][1]["brought"], json!(["owns a cat"]));
    one.holds(&["likes tea", "owns a cat"]);
    let added = other.add("plays chess");
    assert_eq!((&added["shared"], &added["success"]), (&json!(true), &json!(true)));
    one.holds(&["likes tea", "owns a cat", "plays chess"]);
    // A revision number means the same on every host.
    let stale = json!({ "target": "user", "content": "y", "expected_revision": 1 });
    assert_eq!(one.refused("memory.add", &stale), "conflict");
    let fresh = json!({ "target": "user", "content": "y", "expected_revision": added["revision"] });
    assert_eq!(one.ask("memory.add", &fresh)["success"], true);
    one.ask("memory.undo", &json!({ "target": "user" }));
    converged(&[&one, &other]);
    let log = other.log();
    let newest: Vec<_> = log.as_array().unwrap().iter().map(|row| (&row["action"], &row["host"])).collect();
    assert_eq!(
        newest[..3],
        [(&json!("undo"), &json!("attic")), (&json!("add"), &json!("attic")), (&json!("add"), &json!("cellar"))]
    );
    let again = one.ask("shared.join", &json!({}));
    assert_eq!((&again["stores"][1]["brought"], &again["stores"][1]["found"]), (&json!([]), &json!(3)));
}

#[test]
fn writers_on_three_hosts_lose_nothing_to_each_other() {
    let Some(server) = server() else { return };
    let hosts = ["a", "b", "c"].map(|name| Host::joined(&server, name, "[memory]\nuser_limit = 100000\n"));
    let mut expected = BTreeSet::new();
    thread::scope(|scope| {
        for (at, host) in hosts.iter().enumerate() {
            for writer in 0..4 {
                scope.spawn(move || {
                    let mut raw = host.raw();
                    for round in 0..10 {
                        let name = format!("host {at} writer {writer} round {round}");
                        let added = raw.result("memory.add", &json!({ "target": "user", "content": name }));
                        assert_eq!((&added["success"], &added["shared"]), (&json!(true), &json!(true)), "{added}");
                        if round % 2 == 1 {
                            let change =
                                json!({ "target": "user", "old_text": name, "content": format!("{name}, changed") });
                            assert_eq!(raw.result("memory.replace", &change)["success"], true);
                        }
                    }
                });
            }
        }
    });
    for (at, writer, round) in (0..3).flat_map(|at| (0..4).flat_map(move |w| (0..10).map(move |round| (at, w, round))))
    {
        let changed = if round % 2 == 1 { ", changed" } else { "" };
        expected.insert(format!("host {at} writer {writer} round {round}{changed}"));
    }
    assert_eq!(converged(&hosts.each_ref()), expected);
}

#[test]
fn who_writes_while_a_person_edits_and_another_host_writes_is_answered() {
    let Some(server) = server() else { return };
    let hosts = ["a", "b"].map(|name| Host::joined(&server, name, "[memory]\nuser_limit = 100000\n"));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for (at, host) in hosts.iter().enumerate().flat_map(|host| [host; 3]) {
            let is_done = &is_done;
            scope.spawn(move || {
                let mut raw = host.raw();
                while !is_done.load(Ordering::Relaxed) {
                    let name = format!("host {at} {:?}", thread::current().id());
                    let added = raw.result("memory.add", &json!({ "target": "user", "content": name }));
                    assert_eq!(added["shared"], true, "{added}");
                    raw.result("memory.remove", &json!({ "target": "user", "old_text": name }));
                }
            });
        }
        for at in 0..30 {
            let text = format!("by hand {at}");
            eventually("an edit", || {
                let old = hosts[0].home.read_store(Target::User);
                hosts[0].home.write_store(Target::User, format!("{}\n§\n{text}", old.trim_end()).as_bytes());
                hosts[0].entries().contains(&text).then_some(())
            });
            eventually("it got a revision", || hosts[1].entries().contains(&text).then_some(()));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(converged(&hosts.each_ref()).iter().filter(|entry| entry.starts_with("by hand")).count(), 30);
}

#[test]
fn what_a_person_or_hermes_writes_into_the_file_goes_to_all() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    other.home.write_store(Target::User, "likes tea\n§\nby hand".as_bytes());
    one.holds(&["likes tea", "by hand"]);
    // Edits on both hosts at the same time.
    one.home.write_store(Target::User, "likes tea\n§\nby hand\n§\nat a".as_bytes());
    other.home.write_store(Target::User, "by hand\n§\nat b".as_bytes());
    eventually("both edits", || {
        let all = one.entries();
        (all.len() == 3 && ["by hand", "at a", "at b"].iter().all(|text| all.contains(&(*text).to_owned())))
            .then_some(())
    });
    converged(&[&one, &other]);
    // An edit while no daemon runs, and a file that is emptied or removed.
    one.kill();
    let text = one.home.read_store(Target::User);
    one.home.write_store(Target::User, format!("{text}\n§\nwhile it slept").as_bytes());
    one.restart();
    let entries = converged(&[&one, &other]);
    assert!(entries.contains("while it slept") && entries.len() == 4, "{entries:?}");
    one.home.write_store(Target::User, b"");
    eventually("an emptied file is put back", || (one.home.entries(Target::User).len() == 4).then_some(()));
    std::fs::remove_file(one.home.store(Target::User)).unwrap();
    eventually("a file that is gone is put back", || (one.home.entries(Target::User).len() == 4).then_some(()));
    one.add("and then");
    assert_eq!(converged(&[&one, &other]).len(), 5);
}

#[test]
fn a_frozen_snapshot_does_not_move() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    let before = one.ask("session.open", &json!({ "session": "s" }))["snapshot"].clone();
    other.holds(&["likes tea"]);
    other.add("plays chess");
    one.holds(&["likes tea", "plays chess"]);
    assert_eq!(one.ask("session.snapshot", &json!({ "session": "s" })), before);
}
