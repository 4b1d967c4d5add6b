//! Names from clients that look like paths: names of sessions, of calls, and of requested outputs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use herma_tests::{Daemon, Home, Raw, kind};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

/// Ids that must not be used as names of folders or files, or that are easily confused.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "../../x",
        "/etc/passwd",
        ".",
        "..",
        "...",
        "a\0b",
        "a\nb",
        "a b",
        "a/b",
        "a_b",
        "a:b",
        "a\\b",
        "🪨🪨",
        "🪨",
        "日本",
        "call_1",
        "call_1.txt",
        "call_1.txt.idx",
        "Call_1",
        ".out_x.tmp",
        ".outputs_x.tmp",
        "outputs.jsonl",
        "-rf",
        "~",
        "$HOME",
        "%2e%2e%2f",
        "con",
        "\u{202e}txt",
        "\u{feff}",
    ]
    .map(str::to_owned)
    .into();
    names.extend(["x", "/", "é"].map(|piece| piece.repeat(1024)));
    names.extend([128, 129].map(|length| "y".repeat(length)));
    names
}

fn kept(raw: &mut Raw, session: &str, id: &str, text: &str) -> Value {
    let params = json!({ "session": session, "tool": "t", "id": id, "content": text, "threshold": 0 });
    let admitted = raw.result("output.admit", &params);
    assert_eq!((&admitted["spilled"], &admitted["failure"]), (&json!(true), &Value::Null), "{session:?} {id:?}");
    admitted
}

fn read(raw: &mut Raw, handle: &Value) -> Value {
    raw.result("output.read", &json!({ "handle": handle }))["text"].take()
}

/// Returns the files of the home that are not outputs.
fn others(home: &Home) -> Vec<PathBuf> {
    let outputs = home.path().join("herma/outputs");
    home.files().into_iter().filter(|file| !file.starts_with(&outputs)).collect()
}

/// Returns the files next to the home that are named like an id that was given to the daemon.
fn strangers(home: &Home) -> Vec<PathBuf> {
    let beside = home.path().parent().unwrap();
    ["x", "x.txt", "x.txt.txt"].iter().map(|name| beside.join(name)).filter(|path| path.exists()).collect()
}

#[test]
fn hostile_ids_stay_below_the_outputs_and_each_reads_back_its_own_text() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    kept(&mut raw, "plain", "plain", "plain");
    let (before, beside) = (others(&home), strangers(&home));
    let mut all: Vec<(Value, String)> = Vec::new();
    for (number, name) in names().iter().enumerate() {
        for (session, id) in [(name.as_str(), "call"), ("s", name.as_str()), (name, name)] {
            if session.contains(char::is_control) {
                let params = json!({ "session": session, "tool": "t", "id": id, "content": "x", "threshold": 0 });
                assert_eq!(kind(&raw.call("output.admit", &params)), "invalid_params", "{session:?}");
                continue;
            }
            let text = format!("{number} {session:.9} {id:.9}\nthe text of its own");
            let admitted = kept(&mut raw, session, id, &text);
            let path = Path::new(admitted["path"].as_str().unwrap());
            assert_eq!(path.parent().and_then(Path::parent), Some(home.path().join("herma/outputs").as_path()));
            assert_eq!(fs::read_to_string(path).unwrap(), text);
            all.push((admitted["handle"].clone(), text));
        }
    }
    // A session may even have the name of another one's folder.
    let folders = fs::read_dir(home.path().join("herma/outputs")).unwrap();
    for folder in folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>() {
        let text = format!("of the session {folder}");
        let admitted = kept(&mut raw, &folder, "call", &text);
        all.push((admitted["handle"].clone(), text));
    }
    let check = |raw: &mut Raw| {
        for (handle, text) in &all {
            assert_eq!(&read(raw, handle), text);
        }
        let listed = raw.result("output.list", &json!({ "limit": 1000 }));
        assert_eq!(listed["outputs"].as_array().unwrap().len(), all.len() + 1);
        assert_eq!(raw.result("output.gc", &json!({}))["files"], json!(all.len() + 1));
    };
    check(&mut raw);
    let handles: std::collections::HashSet<&str> = all.iter().map(|(handle, _)| handle.as_str().unwrap()).collect();
    assert_eq!(handles.len(), all.len(), "a handle was given twice");
    assert_eq!((others(&home), strangers(&home)), (before, beside));
    for name in names().into_iter().filter(|name| !name.contains(char::is_control)) {
        let listed = raw.result("output.list", &json!({ "session": name, "limit": 1000 }));
        let rows = listed["outputs"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["session"] == json!(name)), "{name:?}: {listed}");
        assert_eq!(raw.result("session.show", &json!({ "session": name }))["session"], json!(name));
    }
    daemon.kill();
    daemon = Daemon::start(&home);
    check(&mut daemon.raw());
}

#[test]
fn a_session_with_a_hostile_id_is_removed_with_its_outputs_even_if_the_catalog_was_lost() {
    for loses_catalog in [false, true] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        kept(&mut raw, "../../x", "call", "to go");
        kept(&mut raw, "plain", "call", "to stay");
        if loses_catalog {
            raw.result("shutdown", &json!({}));
            daemon.ended();
            fs::remove_file(home.path().join("herma/outputs.jsonl")).unwrap();
            daemon = Daemon::start(&home);
            raw = daemon.raw();
            let count = |raw: &mut Raw| raw.result("status", &json!({}))["outputs"]["files"].as_u64().unwrap();
            herma_tests::eventually("the outputs to be taken in", || (count(&mut raw) == 2).then_some(()));
        }
        assert_eq!(raw.result("session.remove", &json!({ "session": "../../x" }))["outputs"], 1, "{loses_catalog}");
        let left = home.outputs();
        assert_eq!(left, [home.path().join("herma/outputs/plain/call.txt")]);
        assert_eq!(raw.result("output.gc", &json!({}))["files"], 1);
    }
}

/// Checks that a path is refused without waiting for the file at the path.
fn assert_refused(raw: &mut Raw, path: &str, kinds: &[&str]) {
    let reply = raw.call("output.read", &json!({ "path": path }));
    let words = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(kinds.contains(&kind(&reply)) && !words.is_empty(), "{path}: {reply}");
}

#[test]
fn a_path_leads_to_an_output_or_to_a_clear_error() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    fs::write(home.path().join("secret.txt"), "private").unwrap();
    let inside = kept(&mut raw, "s", "call", "kept")["path"].as_str().unwrap().to_owned();
    let outputs = home.path().join("herma/outputs");
    let at = |name: &str| outputs.join(name).to_str().unwrap().to_owned();
    for (link, target) in [
        ("s/out.txt", home.path().join("secret.txt")),
        ("s/passwd.txt", PathBuf::from("/etc/passwd")),
        ("s/shadow.txt", PathBuf::from("/etc/shadow")),
        ("s/zero.txt", PathBuf::from("/dev/zero")),
        ("s/up.txt", PathBuf::from("../../../secret.txt")),
        ("s/catalog.txt", PathBuf::from("../../outputs.jsonl")),
        ("s/archive.txt", PathBuf::from("../../archive.db")),
        ("away", home.path().to_owned()),
    ] {
        symlink(target, outputs.join(link)).unwrap();
        assert_refused(&mut raw, &at(link), &["invalid_params"]);
    }
    assert_refused(&mut raw, &at("away/secret.txt"), &["invalid_params"]);
    symlink(outputs.join("s/round.txt"), outputs.join("s/round.txt")).unwrap();
    symlink(outputs.join("s/nowhere"), outputs.join("s/dangling.txt")).unwrap();
    fs::create_dir(outputs.join("s/folder.txt")).unwrap();
    mknodat(CWD, outputs.join("s/pipe.txt"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(outputs.join("s/sock.txt")).unwrap();
    assert_refused(&mut raw, &at("s/round.txt"), &["storage_failed", "unreadable"]);
    assert_refused(&mut raw, &at("s/dangling.txt"), &["not_found"]);
    for odd in ["s/folder.txt", "s/pipe.txt", "s/sock.txt"] {
        assert_refused(&mut raw, &at(odd), &["unreadable", "storage_failed"]);
    }
    let long = "x".repeat(5000);
    for path in [
        &at("s/../../archive.db"),
        &at("s/../s/call.txt"),
        &at("./s/../../../secret.txt"),
        &at("s/call.txt/.."),
        &at("s/\0"),
        &at(&format!("s/{long}")),
        &at(&"s/".repeat(3000)),
        "/dev/stdin",
        "/proc/self/environ",
        "s/call.txt",
        "~/secret.txt",
        "\0",
        "",
    ] {
        assert_refused(&mut raw, path, &["invalid_params", "not_found"]);
    }
    // None of these is an output, and none prevents outputs from being found.
    let check = |raw: &mut Raw| {
        assert_eq!(raw.result("output.read", &json!({ "path": inside }))["text"], "kept");
        assert_eq!(raw.result("output.gc", &json!({}))["files"], 1);
        let found = raw.result("output.search", &json!({ "query": "kept" }));
        assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
        let found = raw.result("output.search", &json!({ "query": "private|root", "regex": true }));
        assert_eq!(found["matches"], json!([]), "{found}");
    };
    check(&mut raw);
    daemon.kill();
    let daemon = Daemon::start(&home);
    check(&mut daemon.raw());
    assert_eq!(fs::read_to_string(home.path().join("secret.txt")).unwrap(), "private");
    drop(socket);
}
