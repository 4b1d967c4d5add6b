//! A database that is unavailable.

use std::time::{Duration, Instant};

use herma_protocol::memory::Target;
use herma_tests::{eventually, kind};
use serde_json::json;

use super::{Host, converged, server};

#[test]
fn writes_are_refused_while_the_line_is_cut_and_reads_say_how_old_they_are() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    one.line.cut();
    let answer = one.raw().call("memory.add", &json!({ "target": "user", "content": "x" }));
    let data = &answer["error"]["data"];
    assert_eq!(
        (&data["kind"], &data["retry"], &data["shared"]),
        (&json!("unavailable"), &json!(true), &json!(false)),
        "{answer}"
    );
    other.add("plays chess");
    one.is("down");
    let stale = eventually("it is known to be old", || {
        let list = one.ask("memory.list", &json!({ "target": "user" }))["user"].clone();
        (list["stale_s"].as_f64().unwrap() > 0.5).then_some(list)
    });
    assert_eq!(stale["entries"], json!(["likes tea"]));
    one.line.mend();
    one.is("up");
    one.holds(&["likes tea", "plays chess"]);
    assert_eq!(one.add("x")["shared"], true);
    assert_eq!(converged(&[&one, &other]).len(), 3);
}

#[test]
fn nothing_that_needs_no_database_waits_for_one_that_hangs() {
    let Some(server) = server() else { return };
    let one = Host::joined(&server, "a", "timeout = \"8s\"\n");
    one.add("likes tea");
    server.freeze(true);
    let mut asked = one.raw();
    asked.request("memory.add", &json!({ "target": "user", "content": "x" }));
    for _ in 0..50 {
        let began = Instant::now();
        one.ask("ping", &json!({}));
        one.ask("memory.list", &json!({ "target": "user" }));
        one.ask("session.open", &json!({ "session": "s", "profile": "local" }));
        let own = json!({ "target": "user", "content": "mine", "profile": "local" });
        assert_eq!(one.ask("memory.add", &own).get("shared"), None);
        assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    }
    assert_eq!(kind(&asked.read()), "unavailable");
    one.is("down");
    let began = Instant::now();
    assert_eq!(one.refused("memory.add", &json!({ "target": "user", "content": "y" })), "unavailable");
    assert!(began.elapsed() < Duration::from_secs(7));
    server.freeze(false);
    one.is("up");
    assert_eq!(one.add("z")["shared"], true);
}

#[test]
fn what_was_acknowledged_is_there_after_crashes_of_both() {
    let Some(server) = server() else { return };
    let mut one = Host::joined(&server, "a", "[memory]\nuser_limit = 100000\n");
    let other = Host::joined(&server, "b", "[memory]\nuser_limit = 100000\n");
    let mut acknowledged = Vec::new();
    for round in 0..4 {
        for at in 0..5 {
            let text = format!("round {round} entry {at}");
            assert_eq!(one.add(&text)["shared"], true);
            acknowledged.push(text);
        }
        if round % 2 == 0 {
            one.kill();
            one.restart();
        } else {
            server.crash();
            server.go_on();
        }
        one.is("up");
    }
    let entries = converged(&[&one, &other]);
    assert!(acknowledged.iter().all(|text| entries.contains(text)), "{entries:?}");
}

#[test]
fn what_is_kept_meanwhile_is_judged_when_the_database_is_back() {
    let Some(server) = server() else { return };
    let queue = "offline = \"queue\"\n";
    let (mut one, other) = (Host::joined(&server, "a", queue), Host::joined(&server, "b", queue));
    ["likes tea", "owns a cat", "reads at night"].iter().for_each(|text| drop(one.add(text)));
    other.holds(&["likes tea", "owns a cat", "reads at night"]);
    one.line.cut();
    one.is("down");
    let kept = one.add("plays chess");
    assert_eq!((&kept["success"], &kept["shared"]), (&json!(true), &json!(false)), "{kept}");
    assert!(kept["message"].as_str().unwrap().contains("not shared yet"), "{kept}");
    let replace = |old: &str, new: &str| json!({ "target": "user", "old_text": old, "content": new });
    assert_eq!(one.ask("memory.replace", &replace("tea", "likes coffee"))["shared"], false);
    assert_eq!(one.ask("memory.replace", &replace("cat", "owns two cats"))["shared"], false);
    // This edit extends an entry that another host changes meanwhile.
    assert_eq!(one.ask("memory.replace", &replace("reads at night", "reads at night, in bed"))["shared"], false);
    // An edit that this host's own state refuses is refused at once.
    assert_eq!(one.ask("memory.replace", &replace("nowhere", "x"))["success"], false);
    // Undo applies to what all hosts have, so it needs the database.
    assert_eq!(one.refused("memory.undo", &json!({ "target": "user" })), "unavailable");
    assert_eq!(one.ask("memory.queued", &json!({}))["queued"].as_array().unwrap().len(), 4);
    assert_eq!(one.entries(), ["likes tea", "owns a cat", "reads at night"]);
    other.ask("memory.replace", &replace("likes tea", "likes green tea"));
    other.ask("memory.replace", &replace("reads at night", "reads at night, rarely"));
    one.restart();
    assert_eq!(one.ask("memory.queued", &json!({}))["queued"].as_array().unwrap().len(), 4);
    one.line.mend();
    eventually("the queue is empty", || {
        one.ask("memory.queued", &json!({}))["queued"].as_array().unwrap().is_empty().then_some(())
    });
    let entries = converged(&[&one, &other]);
    let expected = ["likes green tea", "owns two cats", "plays chess", "reads at night, rarely"].map(str::to_owned);
    assert_eq!(entries, expected.into());
    let pending = one.ask("memory.pending", &json!({}))["pending"].clone();
    assert_eq!(pending.as_array().unwrap().len(), 2, "{pending}");
    assert_eq!(pending[0]["payload"]["content"], "likes coffee");
    // An approval does not change another entry either.
    let approved = one.ask("memory.approve", &json!({ "all": true }));
    assert_eq!(approved["failed"].as_array().unwrap().len(), 2, "{approved}");
    assert_eq!(converged(&[&one, &other]).len(), 4);
    // A later write is shared at once.
    assert_eq!(one.add("last")["shared"], true);
}

#[test]
fn what_waits_is_handed_to_a_person_wherever_leaving_was_cut_off() {
    let Some(server) = server() else { return };
    let mut one = Host::joined(&server, "a", "offline = \"queue\"\n");
    one.line.cut();
    one.is("down");
    let said = ["plays chess", "likes tea", "owns a cat"];
    let contents = |found: &serde_json::Value| -> Vec<String> {
        let found = found.as_array().unwrap().iter();
        found.map(|write| write["payload"]["content"].as_str().unwrap().to_owned()).collect()
    };
    said.iter().for_each(|text| assert_eq!(one.add(text)["shared"], false));
    // The daemon is killed right after it recorded that the profile leaves, and in the middle of the hand-over.
    let herma = one.home.path().join("herma");
    let queue = herma.join("queue/default");
    one.kill();
    std::fs::write(herma.join("shared.json"), r#"{"profiles":{}}"#).unwrap();
    let mut waiting: Vec<_> = std::fs::read_dir(&queue).unwrap().map(|entry| entry.unwrap().path()).collect();
    waiting.sort();
    let pending = one.home.path().join("pending/memory");
    std::fs::create_dir_all(&pending).unwrap();
    std::fs::rename(&waiting[0], pending.join(waiting[0].file_name().unwrap())).unwrap();
    one.restart();
    assert_eq!(one.ask("memory.queued", &json!({}))["queued"], json!([]));
    let mut found = contents(&one.ask("memory.pending", &json!({}))["pending"]);
    found.sort();
    assert_eq!(found, ["likes tea", "owns a cat", "plays chess"]);
    // A second call hands over a write that arrived while the profile left.
    one.kill();
    let late = waiting.iter().find(|path| pending.join(path.file_name().unwrap()).exists()).unwrap();
    std::fs::rename(pending.join(late.file_name().unwrap()), late).unwrap();
    one.restart();
    drop(one.raw().call("shared.leave", &json!({})));
    assert_eq!(one.ask("memory.queued", &json!({}))["queued"], json!([]));
    assert_eq!(contents(&one.ask("memory.pending", &json!({}))["pending"]).len(), 3);
    // If it is unknown which profiles are shared, nothing is moved.
    one.kill();
    std::fs::rename(pending.join(late.file_name().unwrap()), late).unwrap();
    std::fs::write(herma.join("shared.json"), "{").unwrap();
    one.restart();
    assert_eq!(one.ask("memory.queued", &json!({}))["queued"].as_array().unwrap().len(), 1);
}

#[test]
fn an_edit_by_hand_waits_in_the_file_until_the_database_is_back() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    one.line.cut();
    one.is("down");
    one.home.write_store(Target::User, "likes tea\n§\nby hand".as_bytes());
    other.add("plays chess");
    one.restart();
    assert_eq!(one.entries(), ["likes tea", "by hand"]);
    let stores = one.ask("shared.status", &json!({}))["stores"].clone();
    assert_eq!(stores[1]["edited"], true);
    one.line.mend();
    assert_eq!(converged(&[&one, &other]), ["by hand", "likes tea", "plays chess"].map(str::to_owned).into());
}

#[test]
fn a_line_that_falls_silent_while_a_write_is_under_way_leaves_no_doubt_for_long() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    one.line.silence();
    let began = Instant::now();
    assert_eq!(one.refused("memory.add", &json!({ "target": "user", "content": "in doubt" })), "unavailable");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    one.line.mend();
    one.is("up");
    // The first attempt may have been applied or not. After the second, the entry exists once.
    one.add("in doubt");
    let entries = converged(&[&one, &other]);
    assert_eq!(entries, ["in doubt", "likes tea"].map(str::to_owned).into());
    assert_eq!(one.entries().len(), 2);
}
