//! The daemon ends and starts again while a client works.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Mcp, eventually};
use serde_json::json;

const PASS: u8 = 0;
const KEEP: u8 = 1;

/// A proxy between server and daemon that can hold back the daemon's answers.
#[derive(Debug)]
struct Between {
    socket: PathBuf,
    answers: Arc<AtomicU8>,
    /// Bytes sent to the daemon.
    asked: Arc<AtomicU64>,
    open: Arc<Mutex<Vec<UnixStream>>>,
}

impl Between {
    fn new(home: &Home) -> Self {
        let socket = home.path().join("between");
        let listener = UnixListener::bind(&socket).unwrap();
        let between = Self { socket, answers: Arc::default(), asked: Arc::default(), open: Arc::default() };
        let (answers, asked, open) =
            (Arc::clone(&between.answers), Arc::clone(&between.asked), Arc::clone(&between.open));
        let to = home.socket();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = eventually("a daemon", || UnixStream::connect(&to).ok());
                open.lock().unwrap().push(near.try_clone().unwrap());
                let ways = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
                let [there, back] = ways;
                let (asked, answers) = (Arc::clone(&asked), Arc::clone(&answers));
                std::thread::spawn(move || {
                    pump(there, |count| {
                        asked.fetch_add(count, Ordering::SeqCst);
                        PASS
                    });
                });
                std::thread::spawn(move || pump(back, |_| answers.load(Ordering::SeqCst)));
            }
        });
        between
    }

    fn keep_answers(&self) {
        self.answers.store(KEEP, Ordering::SeqCst);
    }

    fn pass_answers(&self) {
        self.answers.store(PASS, Ordering::SeqCst);
    }

    /// Breaks every connection.
    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            // The connection may be closed already.
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    fn path(&self) -> &Path {
        &self.socket
    }
}

fn pump((mut from, mut to): (UnixStream, UnixStream), what: impl Fn(u64) -> u8) {
    let mut buffer = [0; 1 << 16];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || (what(count as u64) == PASS && to.write_all(&buffer[..count]).is_err()) {
            break;
        }
    }
    // The connection may be closed already.
    drop(to.shutdown(Shutdown::Both));
}

fn with(operation: &serde_json::Value) -> serde_json::Value {
    json!({ "name": "memory", "arguments": operation })
}

#[test]
fn calls_go_on_with_the_next_daemon() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &["--session", "s1"]);
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "one" })));
    let frozen = mcp.read("herma://session/snapshot");
    daemon.kill();
    // The server starts this daemon.
    let written =
        mcp.done("memory", &json!({ "action": "replace", "target": "user", "old_text": "one", "content": "1" }));
    assert_eq!((&written["entries"], &written["replaced_entry"]), (&json!(["1"]), &json!("one")), "{written}");
    let mut raw = herma_tests::Raw::connect(&home.socket());
    assert_eq!(raw.result("shutdown", &json!({})), json!({}));
    drop(raw.rest());
    // A draining daemon may answer a late request, and then the server would start no new daemon.
    eventually("the daemon to be gone", || UnixStream::connect(home.socket()).is_err().then_some(()));
    assert_eq!(mcp.read("herma://store/user"), "1");
    assert_eq!(mcp.read("herma://session/snapshot"), frozen);
    assert_eq!(mcp.result("tools/list", &json!({}))["tools"].as_array().unwrap().len(), super::TOOLS.len());
    drop(herma_tests::Raw::connect(&home.socket()).result("shutdown", &json!({})));
    let (code, words) = mcp.end();
    assert!(code == Some(0) && words.contains("connecting again"), "{words}");
}

#[test]
fn a_write_whose_daemon_died_before_it_answered_is_done_once() {
    for (arguments, expected) in [
        (json!({ "action": "add", "target": "user", "content": "three" }), ["one", "two", "three"].as_slice()),
        (json!({ "action": "replace", "target": "user", "old_text": "one", "content": "1" }), &["1", "two"]),
        (json!({ "action": "remove", "target": "user", "old_text": "one" }), &["two"]),
        (
            json!({ "target": "user", "operations": [
            { "action": "remove", "old_text": "one" }, { "action": "add", "content": "three" },
        ] }),
            &["two", "three"],
        ),
    ] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one" })));
        drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "two" })));
        let between = Between::new(&home);
        let mut mcp = Mcp::start_on(&home, between.path(), &["--no-spawn"]);
        drop(mcp.initialize("probe"));
        drop(mcp.read("herma://store/user"));
        between.keep_answers();
        let id = mcp.request("tools/call", &with(&arguments));
        eventually("the write", || (home.entries(Target::User) == expected).then_some(()));
        daemon.kill();
        between.pass_answers();
        let daemon = Daemon::start(&home);
        let result = mcp.answer(id)["result"].take();
        let (failed, told) = herma_tests::mcp::content(&result);
        assert_eq!((failed, &told["success"], &told["entries"]), (false, &json!(true), &json!(expected)), "{told}");
        assert_eq!(home.entries(Target::User), expected);
        let log = daemon.raw().result("memory.log", &json!({ "target": "user" }));
        assert_eq!((log["rows"].as_array().unwrap().len(), &told["revision"]), (3, &json!(3)), "{log}");
    }
}

#[test]
fn a_write_that_waits_for_approval_is_staged_once() {
    let home = Home::configured("[memory]\napproval = true\n");
    let daemon = Daemon::start(&home);
    let between = Between::new(&home);
    let mut mcp = Mcp::start_on(&home, between.path(), &["--no-spawn"]);
    drop(mcp.initialize("probe"));
    drop(mcp.read("herma://store/user"));
    between.keep_answers();
    let id = mcp.request("tools/call", &with(&json!({ "action": "add", "target": "user", "content": "likes tea" })));
    let pending = |daemon: &Daemon| daemon.raw().result("memory.pending", &json!({}))["pending"].take();
    eventually("the write to be staged", || pending(&daemon)[0]["id"].as_str().map(str::to_owned));
    daemon.kill();
    between.pass_answers();
    let daemon = Daemon::start(&home);
    let (failed, told) = herma_tests::mcp::content(&mcp.answer(id)["result"]);
    let staged = pending(&daemon);
    assert_eq!((failed, &told["staged"], &told["pending_id"]), (false, &json!(true), &staged[0]["id"]), "{told}");
    assert_eq!(staged.as_array().unwrap().len(), 1, "{staged}");
}

#[test]
fn a_write_that_still_runs_when_the_connection_breaks_is_done_once() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one" })));
    let between = Between::new(&home);
    let mut mcp = Mcp::start_on(&home, between.path(), &["--no-spawn"]);
    drop(mcp.initialize("probe"));
    drop(mcp.read("herma://store/user"));
    let held = home.hold(Target::User);
    let before = between.asked.load(Ordering::SeqCst);
    let replace = json!({ "action": "replace", "target": "user", "old_text": "one", "content": "1" });
    let id = mcp.request("tools/call", &with(&replace));
    eventually("the request", || (between.asked.load(Ordering::SeqCst) > before).then_some(()));
    let asked = between.asked.load(Ordering::SeqCst);
    between.cut();
    eventually("the request again", || (between.asked.load(Ordering::SeqCst) > asked + before).then_some(()));
    drop(held);
    let (failed, told) = herma_tests::mcp::content(&mcp.answer(id)["result"]);
    assert_eq!((failed, &told["success"], &told["replaced_entry"]), (false, &json!(true), &json!("one")), "{told}");
    assert_eq!(home.entries(Target::User), ["1"]);
}

#[test]
fn an_answer_that_was_lost_on_its_way_is_given_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one" })));
    let between = Between::new(&home);
    let mut mcp = Mcp::start_on(&home, between.path(), &["--no-spawn"]);
    drop(mcp.initialize("probe"));
    drop(mcp.read("herma://store/user"));
    between.keep_answers();
    let replace = json!({ "action": "replace", "target": "user", "old_text": "one", "content": "1" });
    let id = mcp.request("tools/call", &with(&replace));
    eventually("the write", || (home.entries(Target::User) == ["1"]).then_some(()));
    // The daemon keeps running, so it knows the result of the write.
    drop(daemon.raw().result("memory.list", &json!({})));
    between.pass_answers();
    between.cut();
    let (failed, told) = herma_tests::mcp::content(&mcp.answer(id)["result"]);
    assert_eq!((failed, &told["replaced_entry"], &told["revision"]), (false, &json!("one"), &json!(2)), "{told}");
}

#[test]
fn a_daemon_that_it_started_leaves_nothing_behind() {
    let home = Home::new();
    let mut mcp = Mcp::ready(&home, &[]);
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "one" })));
    let pid = |raw: &mut herma_tests::Raw| raw.result("hello", &json!({}))["pid"].as_i64().unwrap();
    let first = pid(&mut herma_tests::Raw::connect(&home.socket()));
    let process = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    eventually("the process to be gone", || (!Path::new(&format!("/proc/{first}")).exists()).then_some(()));
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "two" })));
    assert_eq!(home.entries(Target::User), ["one", "two"]);
    let mut raw = herma_tests::Raw::connect(&home.socket());
    assert_ne!(pid(&mut raw), first);
    drop(raw.result("shutdown", &json!({})));
    drop(raw.rest());
}

#[test]
fn a_write_that_was_done_is_no_error_however_often_the_daemon_goes_away() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let between = Between::new(&home);
    let mut mcp = Mcp::start_on(&home, between.path(), &[]);
    drop(mcp.initialize("probe"));
    let add = |content: &str| json!({ "action": "add", "target": "user", "content": content });
    drop(mcp.done("memory", &add("first")));
    between.keep_answers();
    let id = mcp.request("tools/call", &json!({ "name": "memory", "arguments": add("second") }));
    eventually("the write", || (home.entries(Target::User) == ["first", "second"]).then_some(()));
    daemon.kill();
    let _daemon = Daemon::start(&home);
    // More often than a call is retried.
    for _ in 0..12 {
        let before = between.asked.load(Ordering::SeqCst);
        between.cut();
        eventually("another attempt", || (between.asked.load(Ordering::SeqCst) > before).then_some(()));
    }
    between.pass_answers();
    between.cut();
    let answer = mcp.answer(id);
    let (failed, told) = herma_tests::mcp::content(&answer["result"]);
    assert!(!failed && told["success"] == json!(true), "{answer}");
    assert_eq!(home.entries(Target::User), ["first", "second"]);
}
