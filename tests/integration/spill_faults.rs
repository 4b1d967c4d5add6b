//! Disks that fail while an output is spilled. The conversation gets the beginning and the cause, no file is left over,
//! and earlier outputs stay.

use std::fs;

use herma_tests::{Daemon, Home, Injection, Need, Raw, Where, eventually};
use serde_json::{Value, json};

/// Size of the file system to fill, in bytes.
const ROOM: u64 = 16 << 20;

/// Returns a distinct output for each number, far longer than the space that the daemon reserves.
fn text(number: usize) -> String {
    format!("output {number} ünï\n").repeat(300_000)
}

/// Returns the beginning of such an output.
fn short(number: usize, bytes: usize) -> String {
    let text = text(number);
    text[..text.floor_char_boundary(bytes)].to_owned()
}

fn admit(raw: &mut Raw, id: &str, text: &str) -> Value {
    raw.result("output.admit", &json!({ "session": "s", "tool": "t", "id": id, "content": text }))
}

/// Spills an output, and checks that it is stored.
fn assert_kept(raw: &mut Raw, id: &str, text: &str) -> Value {
    let admitted = admit(raw, id, text);
    assert_eq!((&admitted["spilled"], &admitted["failure"]), (&json!(true), &Value::Null), "{id}");
    admitted["handle"].clone()
}

/// Checks that the conversation has the beginning of the text, and the failure.
fn assert_truncated(admitted: &Value, text: &str, failure: &str) {
    assert_eq!((&admitted["spilled"], &admitted["failure"]), (&json!(false), &json!(failure)));
    assert_eq!((&admitted["handle"], &admitted["path"]), (&Value::Null, &Value::Null));
    let chars = text.chars().count();
    assert_eq!(admitted["chars"], json!(chars));
    let content = admitted["content"].as_str().unwrap();
    let (beginning, words) = content.split_once("\n\n[Truncated: ").unwrap();
    let shown = beginning.chars().count();
    assert!(text.starts_with(beginning) && (1000..=1500).contains(&shown), "{shown}");
    assert!(words.ends_with(" chars. Full output could not be saved to sandbox.]"), "{words}");
    assert_eq!(words.chars().filter(char::is_ascii_digit).collect::<String>(), chars.to_string());
}

/// Checks that exactly these outputs exist, and that they are whole.
fn assert_only(home: &Home, raw: &mut Raw, kept: &[(Value, String)]) {
    // A daemon adds missing outputs to its catalog while it gives its first answers.
    eventually("the outputs to be known", || {
        (raw.result("status", &json!({}))["outputs"]["files"] == json!(kept.len())).then_some(())
    });
    for (handle, text) in kept {
        let read = raw.result("output.read", &json!({ "handle": handle, "lines": 3 }));
        assert!(text.starts_with(read["text"].as_str().unwrap()));
        let listed = raw.result("output.list", &json!({ "limit": 1000 }));
        let row = listed["outputs"].as_array().unwrap().iter().find(|row| row["handle"] == *handle).cloned().unwrap();
        assert_eq!(fs::read_to_string(home.path().join("herma/outputs/s").join(file(&row))).unwrap(), *text);
    }
    let left: Vec<_> =
        home.outputs().into_iter().filter(|path| path.extension().is_none_or(|end| end != "idx")).collect();
    assert_eq!(left.len(), kept.len(), "{left:?}");
}

fn file(row: &Value) -> &str {
    row["path"].as_str().unwrap().rsplit('/').next().unwrap()
}

/// Checks the same after kill -9 and a restart.
fn assert_only_after_kill(home: &Home, daemon: Daemon, kept: &[(Value, String)]) -> Daemon {
    daemon.kill();
    let daemon = Daemon::start(home);
    let mut raw = daemon.raw();
    raw.result("output.gc", &json!({}));
    assert_only(home, &mut raw, kept);
    daemon
}

#[test]
fn a_full_disk_truncates_leaves_nothing_over_and_spills_again_once_there_is_room() {
    let Some(home) = Home::small(ROOM) else { return };
    let mut daemon = Daemon::start(&home);
    let mut kept: Vec<(Value, String)> = Vec::new();
    for round in 0..2 {
        let mut raw = daemon.raw();
        let (one, two) = (short(2 * round, 400_000), short(2 * round + 1, 400_000));
        kept.push((assert_kept(&mut raw, &format!("before_{round}"), &one), one));
        let filler = home.fill();
        for _ in 0..3 {
            assert_truncated(&admit(&mut raw, "refused", &text(7)), &text(7), "storage_full");
        }
        let settled = raw.result(
            "output.settle_turn",
            &json!({ "session": "s", "results": [{ "id": "turn", "tool": "t", "content": text(8) }] }),
        );
        let replaced = &settled["replacements"][0];
        assert_eq!((&replaced["handle"], &replaced["path"]), (&Value::Null, &Value::Null));
        assert!(replaced["content"].as_str().unwrap().contains("[Truncated: "), "{settled}");
        assert_only(&home, &mut raw, &kept);
        daemon.assert_serves();
        if round == 1 {
            daemon = assert_only_after_kill(&home, daemon, &kept);
            raw = daemon.raw();
            assert_truncated(&admit(&mut raw, "refused", &text(7)), &text(7), "storage_full");
        }
        drop(filler);
        kept.push((assert_kept(&mut raw, "refused", &two), two));
        assert_only(&home, &mut raw, &kept);
        daemon = assert_only_after_kill(&home, daemon, &kept);
    }
}

/// The disk becomes full while the text is written, not before.
#[test]
fn an_output_longer_than_the_room_that_is_left_gives_it_all_back() {
    let Some(home) = Home::small(ROOM) else { return };
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let long = "x".repeat(20 << 20);
    for _ in 0..3 {
        assert_truncated(&admit(&mut raw, "long", &long), &long, "storage_full");
        assert_only(&home, &mut raw, &[]);
    }
    let text = "y".repeat(6 << 20);
    let kept = [(assert_kept(&mut raw, "long", &text), text)];
    assert_only(&home, &mut raw, &kept);
    assert_only_after_kill(&home, daemon, &kept);
}

/// Makes one kind of call fail while an output is spilled, twice. The first time the daemon keeps running, the second
/// time it is killed right after its answer. `place` gets the path that the output would have.
fn check_failing_call(place: impl Fn(&std::path::Path) -> Where<'_>, rule: &str, failure: &str) {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let [one, two, three] = [1, 2, 3].map(|number| short(number, 200_000));
    let mut kept = vec![(assert_kept(&mut raw, "one", &one), one)];
    // Waits for the text index, whose calls must not be the ones that fail.
    raw.result("recall.search", &json!({ "query": "output" }));
    let path = home.path().join("herma/outputs/s/refused.txt");
    let refuse = |raw: &mut Raw| {
        let failing = Injection::attach(&daemon, place(&path), rule);
        assert_truncated(&admit(raw, "refused", &two), &two, failure);
        let hits = failing.hits();
        assert!(hits.iter().any(|hit| hit.contains("herma/outputs/s")), "{hits:?}");
        failing
    };
    let failing = refuse(&mut raw);
    assert_only(&home, &mut raw, &kept);
    failing.end();
    kept.push((assert_kept(&mut raw, "two", &three), three));
    assert_only(&home, &mut raw, &kept);
    let failing = refuse(&mut raw);
    daemon.kill();
    failing.end();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("output.gc", &json!({}));
    assert_only(&home, &mut raw, &kept);
    kept.push((assert_kept(&mut raw, "refused", &two), two.clone()));
    assert_only(&home, &mut raw, &kept);
}

#[test]
fn an_output_that_can_t_be_synced_is_not_kept() {
    check_failing_call(|_| Where::Everywhere, "fsync:error=EIO", "storage_failed");
    check_failing_call(|_| Where::Everywhere, "fsync:error=ENOSPC", "storage_full");
}

#[test]
fn an_output_whose_folder_can_t_be_synced_is_not_kept() {
    let folder = |path: &std::path::Path| -> &'static std::path::Path {
        Box::leak(path.parent().unwrap().to_owned().into_boxed_path())
    };
    check_failing_call(|path| Where::File(folder(path)), "fsync:error=EIO", "storage_failed");
}

#[test]
fn an_output_that_can_t_get_its_name_is_not_kept() {
    for (error, failure) in [
        ("EIO", "storage_failed"),
        ("ENOSPC", "storage_full"),
        ("EDQUOT", "storage_full"),
        ("EROFS", "permission_denied"),
    ] {
        let rule = format!("rename,renameat,renameat2,link,linkat:error={error}");
        check_failing_call(|path| Where::File(path), &rule, failure);
    }
}

/// Outputs are stored and read even if the catalog can't be written.
#[test]
fn a_catalog_that_can_t_be_written_loses_no_output() {
    if !Need::Strace.is_met() {
        return;
    }
    for rule in [
        "pwrite64:error=EIO",
        "pwrite64:error=ENOSPC",
        "pwrite64,ftruncate,openat:error=EIO",
        // The catalog gets the row for the start of the output, but not the one for its end.
        "pwrite64:error=EIO:when=2+",
    ] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let mut kept = Vec::new();
        let mut keep = |raw: &mut Raw, number: usize| {
            let text = short(number, 150_000);
            kept.push((assert_kept(raw, &format!("call_{number}"), &text), text));
            kept.clone()
        };
        keep(&mut raw, 1);
        let catalog = home.path().join("herma/outputs.jsonl");
        let failing = Injection::attach(&daemon, Where::File(&catalog), rule);
        let mut all = keep(&mut raw, 2);
        // The next row would make the daemon rewrite the whole catalog.
        if !rule.contains("when") {
            all = keep(&mut raw, 3);
        }
        assert_only(&home, &mut raw, &all);
        assert!(!failing.hits().is_empty(), "{rule}");
        daemon.kill();
        failing.end();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
        raw.result("output.gc", &json!({}));
        assert_only(&home, &mut raw, &all);
        let all = keep(&mut raw, 4);
        assert_only(&home, &mut raw, &all);
        assert_only_after_kill(&home, daemon, &all);
    }
}

#[test]
fn a_read_only_folder_truncates_and_is_written_again_afterwards() {
    let Some(home) = Home::small(ROOM) else { return };
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let [one, two] = [1, 2].map(|number| short(number, 150_000));
    let mut kept = vec![(assert_kept(&mut raw, "one", &one), one)];
    let folder = home.path().join("herma/outputs");
    let mount = |options: &[&str], folders: usize| {
        let mut command = home.command("mount".as_ref());
        command.args(options).args(std::iter::repeat_n(&folder, folders));
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    mount(&["--bind"], 2);
    mount(&["-o", "remount,bind,ro"], 1);
    for session in ["s", "a session of its own"] {
        let params = json!({ "session": session, "tool": "t", "id": "two", "content": two });
        assert_truncated(&raw.result("output.admit", &params), &two, "permission_denied");
    }
    let removed = raw.call("output.remove", &json!({ "handle": kept[0].0 }));
    assert!(removed["error"]["message"].is_string(), "{removed}");
    mount(&["-o", "remount,bind,rw"], 1);
    let listed = raw.result("output.list", &json!({}));
    // The removal was requested, so it happens as soon as it can.
    if listed["outputs"][0]["state"] == "expired" {
        kept.clear();
        raw.result("output.gc", &json!({}));
    }
    assert_only(&home, &mut raw, &kept);
    kept.push((assert_kept(&mut raw, "two", &two), two));
    assert_only(&home, &mut raw, &kept);
    assert_only_after_kill(&home, daemon, &kept);
}
