//! Undo and restore.

use super::*;

#[test]
fn a_second_undo_brings_the_change_back() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let refused = raw.result("memory.undo", &json!({ "target": "memory" }));
    assert!(refused["success"] == false && refused["error"].as_str().unwrap().contains("undo"), "{refused}");
    add(&mut raw, "one");
    add(&mut raw, "two");
    let undone = raw.result("memory.undo", &json!({ "target": "memory" }));
    let message = undone["message"].as_str().unwrap();
    assert!(message.contains("MEMORY.md") && message.contains("revision 1"), "{undone}");
    let expected = json!({
        "success": true, "target": "memory", "entries": ["one"], "usage": "0% — 3/2,200 chars", "entry_count": 1,
        "message": message, "revision": 3,
    });
    assert_eq!(undone, expected);
    assert_eq!(home.entries(Target::Memory), ["one"]);
    for (revision, entries) in [(4, vec!["one", "two"]), (5, vec!["one"])] {
        let again = raw.result("memory.undo", &json!({ "target": "memory" }));
        assert_eq!((&again["revision"], &again["entries"]), (&json!(revision), &json!(entries)), "{again}");
        assert_eq!(home.entries(Target::Memory), entries);
    }
    // The other store has nothing to undo.
    assert_eq!(raw.result("memory.undo", &json!({ "target": "user" }))["success"], false);
    assert_eq!(log(&mut raw, &json!({ "target": "user" }))["rows"], json!([]));
}

#[test]
fn an_edit_by_hand_and_a_batch_are_taken_back_whole() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "one");
    home.write_store(Target::Memory, "by hand\n§\nanother".as_bytes());
    // No client has read the store since.
    let undone = raw.result("memory.undo", &json!({ "target": "memory" }));
    assert_eq!((&undone["entries"], &undone["revision"]), (&json!(["one"]), &json!(3)), "{undone}");
    fs::remove_file(home.store(Target::Memory)).unwrap();
    let undone = raw.result("memory.undo", &json!({ "target": "memory" }));
    assert_eq!((&undone["entries"], &undone["revision"]), (&json!(["one"]), &json!(5)), "{undone}");
    let operations = json!([
        { "action": "add", "content": "two" }, { "action": "add", "content": "three" }, { "action": "remove", "old_text": "one" },
    ]);
    raw.result("memory.batch", &json!({ "target": "memory", "operations": operations }));
    assert_eq!(home.entries(Target::Memory), ["two", "three"]);
    raw.result("memory.undo", &json!({ "target": "memory" }));
    assert_eq!(home.entries(Target::Memory), ["one"]);
}

#[test]
fn every_revision_can_be_put_back() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let nothing = raw.call("memory.restore", &json!({ "target": "memory", "revision": 1 }));
    assert_eq!(kind(&nothing), "not_found", "{nothing}");
    for number in 1..=4 {
        add(&mut raw, &format!("entry {number}"));
    }
    let texts = |count: u64| (1..=count).map(|number| format!("entry {number}")).collect::<Vec<_>>();
    let mut revision = 4;
    for wanted in [2, 0, 4, 1, 3] {
        let restored = raw.result("memory.restore", &json!({ "target": "memory", "revision": wanted }));
        revision += 1;
        assert_eq!((&restored["success"], &restored["revision"]), (&json!(true), &json!(revision)), "{restored}");
        assert!(restored["message"].as_str().unwrap().contains(&format!("revision {wanted}")), "{restored}");
        assert_eq!(restored["entries"], json!(texts(wanted)));
        assert_eq!(home.entries(Target::Memory), texts(wanted));
    }
    // Revision 6 was empty. A restore to equal entries makes no new revision.
    raw.result("memory.restore", &json!({ "target": "memory", "revision": 6 }));
    let same = raw.result("memory.restore", &json!({ "target": "memory", "revision": 0 }));
    assert_eq!((&same["success"], &same["revision"]), (&json!(true), &json!(10)), "{same}");
    for unknown in [11, 1_000_000, u64::MAX - 1] {
        let reply = raw.call("memory.restore", &json!({ "target": "memory", "revision": unknown }));
        assert_eq!(kind(&reply), "not_found", "{unknown}: {reply}");
    }
    for wrong in [json!(-1), json!("2"), json!(1.5), json!(null)] {
        let reply = raw.call("memory.restore", &json!({ "target": "memory", "revision": wrong }));
        assert_eq!(kind(&reply), "invalid_params", "{wrong}: {reply}");
    }
}

#[test]
fn what_was_there_before_the_daemon_is_the_oldest_revision() {
    let home = Home::new();
    home.write_store(Target::User, b"older than the daemon");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    // There is nothing to undo yet.
    assert_eq!(raw.result("memory.undo", &json!({ "target": "user" }))["success"], false);
    raw.result("memory.replace", &json!({ "target": "user", "old_text": "older", "content": "newer" }));
    assert_eq!(revisions(&log(&mut raw, &json!({ "target": "user" }))), (vec![2, 1], false));
    for (wanted, revision, entries) in
        [(1, 3, "older than the daemon"), (2, 4, "newer"), (0, 5, "older than the daemon")]
    {
        let restored = raw.result("memory.restore", &json!({ "target": "user", "revision": wanted }));
        assert_eq!((&restored["entries"], &restored["revision"]), (&json!([entries]), &json!(revision)), "{restored}");
    }
}

#[test]
fn the_largest_number_is_no_revision() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "one");
    let reply = raw.call("memory.restore", &json!({ "target": "memory", "revision": u64::MAX }));
    assert_eq!(kind(&reply), "not_found", "{reply}");
}

#[test]
fn one_change_of_any_program_is_reverted_and_the_later_ones_stay() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "one");
    add(&mut raw, "two");
    // An editor replaces an entry, adds one and moves another, all at once.
    home.write_store(Target::Memory, "by hand\n§\ntwo\n§\none more".as_bytes());
    raw.result("memory.list", &json!({}));
    add(&mut raw, "later");
    let reverted = raw.result("memory.revert", &json!({ "target": "memory", "revision": 3, "agent": "person" }));
    let expected = json!({
        "success": true, "target": "memory", "entries": ["one", "two", "later"], "usage": "0% — 17/2,200 chars",
        "entry_count": 3, "message": "The change of revision 3 is reverted in MEMORY.md.", "revision": 5,
    });
    assert_eq!(reverted, expected);
    assert_eq!(home.entries(Target::Memory), ["one", "two", "later"]);
    let row = &log(&mut raw, &json!({ "limit": 1 }))["rows"][0];
    assert_eq!(
        json!([row["revision"], row["action"], row["agent"], row["before"], row["after"]]),
        json!([5, "revert", "person", ["by hand", "two", "one more", "later"], ["one", "two", "later"]])
    );
    // A revert is a change like any other. What is reverted already changes nothing.
    let again = raw.result("memory.revert", &json!({ "target": "memory", "revision": 5 }));
    assert_eq!(again["revision"], 6, "{again}");
    let mut entries = home.entries(Target::Memory);
    entries.sort();
    assert_eq!(entries, ["by hand", "later", "one more", "two"]);
    raw.result("memory.undo", &json!({ "target": "memory" }));
    drop(raw);
    drop(daemon);

    // The journal has it for the next daemon too.
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let refused = raw.result("memory.revert", &json!({ "target": "memory", "revision": 3 }));
    assert!(refused["success"] == false && refused["error"].as_str().unwrap().contains("\"by hand\""), "{refused}");
    let missing = raw.call("memory.revert", &json!({ "target": "memory", "revision": 99 }));
    assert_eq!(kind(&missing), "not_found", "{missing}");
    assert!(missing["error"]["message"].as_str().unwrap().contains("1 to 7"), "{missing}");
    let late = raw.call("memory.revert", &json!({ "target": "memory", "revision": 2, "expected_revision": 1 }));
    assert_eq!(kind(&late), "conflict", "{late}");
    assert_eq!(home.entries(Target::Memory), ["one", "two", "later"]);
}

#[test]
fn a_revert_makes_no_store_longer_than_its_limit() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let (long, other) = ("a".repeat(1_500), "b".repeat(1_500));
    add(&mut raw, &long);
    raw.result("memory.remove", &json!({ "target": "memory", "old_text": "aaa" }));
    add(&mut raw, &other);
    let refused = raw.result("memory.revert", &json!({ "target": "memory", "revision": 2 }));
    assert_eq!((&refused["success"], &refused["over_by"]), (&json!(false), &json!(803)), "{refused}");
    assert_eq!(home.entries(Target::Memory), [other]);
}
