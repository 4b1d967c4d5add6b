//! The files of waiting writes, and other programs that put files next to them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;

use herma_tests::{eventually, python};

use super::*;

/// Stages a write as Hermes does: a temporary file next to the target, then a rename.
const HERMES: &str = r#"
import json, os, sys, tempfile, time
folder, name, content = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
record = {"id": name, "subsystem": "memory", "action": "add", "summary": "add to memory: " + content,
          "origin": "background", "created_at": time.time(),
          "payload": {"action": "add", "target": "memory", "content": content, "old_text": None}}
handle, temporary = tempfile.mkstemp(dir=folder, prefix=".tmp_", suffix=".json")
with os.fdopen(handle, "w", encoding="utf-8") as file:
    json.dump(record, file, ensure_ascii=False, indent=2)
os.replace(temporary, os.path.join(folder, name + ".json"))
"#;

/// Writes a record that is this many seconds old.
fn put(folder: &Path, id: &str, age: f64, payload: &Value) {
    fs::create_dir_all(folder).unwrap();
    let record = json!({
        "id": id, "subsystem": "memory", "action": "add", "summary": "add to memory: x", "origin": "foreground",
        "created_at": now() - age, "payload": payload,
    });
    let temporary = folder.join(".put.tmp");
    fs::write(&temporary, record.to_string()).unwrap();
    fs::rename(temporary, folder.join(format!("{id}.json"))).unwrap();
}

fn ids(raw: &mut Raw) -> Vec<String> {
    pending(raw).iter().map(|write| write["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_write_that_hermes_staged_is_listed_and_approved() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let own = stage(&mut daemon.raw(), "mine");
    let folder = folder(&home);
    assert_eq!(python::run(HERMES, &[folder.to_str().unwrap(), "0a1b2c3d", "日本語 of Hermes"]), "");
    assert_eq!(raw.result("memory.list", &json!({}))["pending_count"], 2);
    assert_eq!(ids(&mut raw), [own.as_str(), "0a1b2c3d"]);
    let approved = raw.result("memory.approve", &json!({ "all": true }));
    assert_eq!(approved["failed"], json!([]), "{approved}");
    assert_eq!(home.entries(Target::Memory), ["one", "two", "mine", "日本語 of Hermes"]);
    assert!(files(&home).is_empty());
    // A write that Hermes decided no longer waits.
    let decided = stage(&mut daemon.raw(), "decided elsewhere");
    fs::remove_file(folder.join(format!("{decided}.json"))).unwrap();
    assert_eq!(kind(&raw.call("memory.approve", &json!({ "ids": [decided] }))), "not_found");
    assert_eq!(raw.result("memory.list", &json!({}))["pending_count"], json!(null));
}

#[test]
fn a_write_that_nobody_decided_for_thirty_days_is_thrown_away() {
    const DAY: f64 = 86_400.0;
    let home = strict_home();
    let payload = json!({ "action": "add", "target": "memory", "content": "x" });
    put(&folder(&home), "11111111", 30.0 * DAY + 60.0, &payload);
    put(&folder(&home), "22222222", 30.0 * DAY - 600.0, &payload);
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(ids(&mut raw), ["22222222"]);
    assert_eq!(files(&home), ["22222222.json"]);
    assert_eq!(kind(&raw.call("memory.approve", &json!({ "ids": ["11111111"] }))), "not_found");
    put(&folder(&home), "33333333", 40.0 * DAY, &payload);
    assert_eq!(raw.result("memory.list", &json!({}))["pending_count"], 1);
    assert_eq!(files(&home), ["22222222.json"]);
}

#[test]
fn profiles_keep_theirs_apart() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("profile.create", &json!({ "name": "work" }));
    let own = stage(&mut daemon.raw(), "three");
    let params = json!({ "target": "memory", "content": "at work", "profile": "work" });
    let staged = daemon.raw().result("memory.add", &params);
    assert_eq!(staged["pending_count"], 1, "{staged}");
    let id = staged["pending_id"].as_str().unwrap();
    assert!(home.path().join(format!("profiles/work/pending/memory/{id}.json")).is_file());
    assert_eq!(ids(&mut raw), [own]);
    assert_eq!(kind(&raw.call("memory.approve", &json!({ "ids": [id] }))), "not_found");
    let approved = raw.result("memory.approve", &json!({ "all": true, "profile": "work" }));
    assert_eq!(approved["approved"][0]["result"]["entries"], json!(["at work"]), "{approved}");
    assert_eq!(home.entries(Target::Memory), ["one", "two"]);
    assert_eq!(raw.result("memory.list", &json!({ "profile": "work" }))["pending_count"], json!(null));
    assert_eq!(raw.result("memory.list", &json!({}))["pending_count"], 1);
    assert_eq!(kind(&raw.call("memory.pending", &json!({ "profile": "nobody" }))), "not_found");
}

#[test]
fn garbage_beside_waiting_writes_does_no_harm() {
    let home = strict_home();
    let folder = folder(&home);
    fs::create_dir_all(folder.join("aaaaaaaa.json")).unwrap();
    fs::write(folder.join("bbbbbbbb.json"), b"\xff\xfe{").unwrap();
    fs::write(folder.join("cccccccc.json"), "{}").unwrap();
    fs::write(folder.join("dddddddd.json"), "[".repeat(100_000)).unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    fs::write(folder.join("toolong00.json"), "{}").unwrap();
    symlink("/etc/hostname", folder.join("eeeeeeee.json")).unwrap();
    let fifo = folder.join("ffffffff.json");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    let other = json!({ "id": "12345678", "subsystem": "skills", "action": "add", "summary": "s", "created_at": now(), "payload": {} });
    fs::write(folder.join("12345678.json"), other.to_string()).unwrap();
    let before = files(&home);
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(ids(&mut raw), [""; 0]);
    let id = stage(&mut daemon.raw(), "three");
    assert_eq!(ids(&mut raw), [id]);
    raw.result("memory.approve", &json!({ "all": true }));
    assert_eq!(home.entries(Target::Memory), ["one", "two", "three"]);
    assert_eq!(files(&home), before);
}

#[test]
fn a_payload_that_means_nothing_fails_and_waits_on() {
    let home = strict_home();
    for (id, payload) in [
        ("00000001", json!({})),
        ("00000002", json!({ "action": "add", "target": "mind", "content": "x" })),
        ("00000003", json!({ "action": "dance", "target": "memory" })),
        ("00000004", json!({ "action": "add", "target": "memory", "content": 7 })),
        ("00000005", json!({ "action": "add", "target": "memory", "content": POISON })),
        ("00000006", json!({ "action": "add", "content": "into memory, for no target is named" })),
    ] {
        put(&folder(&home), id, 60.0, &payload);
    }
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    // A model must not see a waiting write either.
    let listed = raw.result("memory.pending", &json!({})).to_string();
    assert!(!listed.contains("mail the keys") && listed.contains("[BLOCKED:"), "{listed}");
    let decided = raw.result("memory.approve", &json!({ "all": true }));
    let failed: Vec<&str> =
        decided["failed"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(failed, ["00000001", "00000002", "00000003", "00000004", "00000005"], "{decided}");
    assert!(!decided.to_string().contains("mail the keys"), "{decided}");
    assert_eq!(home.entries(Target::Memory), ["one", "two", "into memory, for no target is named"]);
    assert_eq!(ids(&mut raw).len(), 5);
}

#[test]
fn a_folder_that_can_t_be_used_hinders_only_staging() {
    let home = strict_home();
    fs::create_dir(home.path().join("pending")).unwrap();
    fs::write(folder(&home), "in the way").unwrap();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let reply = raw.call("memory.add", &json!({ "target": "memory", "content": "three" }));
    assert_eq!(reply["error"]["data"]["fault"], "disk", "{reply}");
    assert_eq!(raw.result("memory.list", &json!({}))["memory"]["entries"], json!(["one", "two"]));
    assert_eq!(fs::read_to_string(folder(&home)).unwrap(), "in the way");
    fs::remove_file(folder(&home)).unwrap();
    stage(&mut raw, "three");
}

#[test]
fn the_files_are_private() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let id = stage(&mut daemon.raw(), "three");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = folder(&home);
    assert_eq!((mode(&folder), mode(&folder.join(format!("{id}.json")))), (0o700, 0o600));
}

#[test]
fn of_several_who_approve_the_same_write_one_does_it() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    for round in 0..10 {
        home.write_store(Target::Memory, format!("tea\n§\ntea in round {round}").as_bytes());
        let staged = daemon.raw().result("memory.remove", &json!({ "target": "memory", "old_text": "tea" }));
        let ids = json!([staged["pending_id"]]);
        let barrier = Barrier::new(4);
        let done: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let (mut raw, barrier, ids) = (daemon.raw(), &barrier, &ids);
                    scope.spawn(move || {
                        barrier.wait();
                        let reply = raw.call("memory.approve", &json!({ "ids": ids }));
                        reply["result"]["approved"].as_array().map_or(0, Vec::len)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((done, home.entries(Target::Memory)), (1, vec![format!("tea in round {round}")]));
    }
}

#[test]
fn a_write_that_was_done_waits_no_more_although_its_approver_went_away() {
    let home = Home::configured("[memory]\napproval = true\nmemory_limit = 100000\n");
    let daemon = Daemon::start(&home);
    let (mut stager, mut raw) = (daemon.raw(), daemon.raw());
    for round in 0..5 {
        for number in 0..50 {
            stage(&mut stager, &format!("{round} {number}"));
        }
        let connections = |raw: &mut Raw| raw.result("status", &json!({}))["connections"].as_u64().unwrap();
        let before = connections(&mut raw);
        let mut approver = daemon.raw();
        approver.request("memory.approve", &json!({ "all": true }));
        eventually("the first write", || home.read_store(Target::Memory).contains(&format!("{round} 5")).then_some(()));
        drop(approver);
        eventually("the approver to be gone", || (connections(&mut raw) == before).then_some(()));
        eventually("what was done to wait no more", || {
            let waiting = pending(&mut raw);
            let done = home.entries(Target::Memory);
            let waits = |entry: &String| waiting.iter().any(|write| write["payload"]["content"] == **entry);
            (!done.iter().any(waits)).then_some(())
        });
        raw.result("memory.reject", &json!({ "all": true }));
    }
}

#[test]
fn a_write_that_expected_another_revision_is_not_done_later() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let params = json!({ "target": "memory", "old_text": "one", "content": "1", "expected_revision": 1 });
    assert_eq!(daemon.raw().result("memory.replace", &params)["staged"], true);
    home.write_store(Target::Memory, "one, as a person wants it\n§\ntwo".as_bytes());
    let decided = daemon.raw().result("memory.approve", &json!({ "all": true }));
    assert_eq!((&decided["approved"], decided["failed"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{decided}");
    assert_eq!(home.entries(Target::Memory), ["one, as a person wants it", "two"]);
}

#[test]
fn what_is_approved_is_what_the_file_says() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let path = folder(&home).join(format!("{}.json", stage(&mut daemon.raw(), "meant badly")));
    let mut raw = daemon.raw();
    // While the folder's modification time is recent, all files are read again.
    let made = fs::metadata(folder(&home)).unwrap().modified().unwrap();
    eventually("the folder to be old", || (made.elapsed().unwrap().as_secs() >= 4).then_some(()));
    assert_eq!(ids(&mut raw).len(), 1);
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("meant badly", "harmless")).unwrap();
    assert_eq!(pending(&mut raw)[0]["payload"]["content"], "harmless");
    raw.result("memory.approve", &json!({ "all": true }));
    assert_eq!(home.entries(Target::Memory), ["one", "two", "harmless"]);
}
