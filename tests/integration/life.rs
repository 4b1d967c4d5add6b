//! How the daemon starts, waits, times out and ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc;

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home, Need, Raw, eventually, kind};
use serde_json::{Value, json};

fn add(content: &str) -> Value {
    json!({ "target": "memory", "content": content })
}

/// Returns the params extended with others.
fn with(mut params: Value, more: &Value) -> Value {
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// Sends a request and returns once the daemon has read it. A later request on the same connection is answered by then.
fn under_way(raw: &mut Raw, method: &str, params: &Value) -> u64 {
    let id = raw.request(method, params);
    let reply = raw.call("ping", &json!({}));
    assert_eq!(reply["result"], json!({}));
    id
}

fn memory(raw: &mut Raw) -> Value {
    raw.call("memory.list", &json!({ "target": "memory" }))["result"]["memory"]["entries"].clone()
}

/// Regression test: a log line that could not be written went to standard error. Nobody reads that once the daemon's
/// parent process is gone. This ended the daemon right after it was ready.
#[test]
fn a_log_on_a_full_disk_does_not_end_the_daemon() {
    let Some(home) = Home::small(4 << 20) else { return };
    let folder = home.path().join("herma");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(folder.join("hermad.log"), "").unwrap();
    let _filler = home.fill();
    let mut daemon = Daemon::start_with_closed_stderr(&home);
    daemon.assert_serves();
    assert_eq!(memory(&mut daemon.raw()), json!([]));
    assert_eq!(fs::metadata(folder.join("hermad.log")).unwrap().len(), 0, "the disk took a line");
    daemon.terminate();
    assert_eq!(daemon.ended().code(), Some(0));
}

#[test]
fn a_daemon_that_is_told_to_stop_answers_what_is_in_flight() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let held = home.hold(Target::Memory);
    let id = under_way(&mut raw, "memory.add", &add("in flight"));
    daemon.terminate();
    eventually("the socket to be closed", || Raw::try_connect(&home.socket()).err());
    drop(held);
    let reply = raw.read();
    assert_eq!((&reply["id"], &reply["result"]["success"]), (&json!(id), &json!(true)), "{reply}");
    assert_eq!(raw.rest(), b"");
    assert_eq!(daemon.ended().code(), Some(0));
    assert!(!home.socket().exists());
    assert_eq!(home.entries(Target::Memory), ["in flight"]);
    Daemon::start(&home).assert_serves();
}

#[test]
fn a_shutdown_is_answered_and_leaves_nothing_behind() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut idle = daemon.raw();
    assert_eq!(daemon.raw().call("shutdown", &json!({}))["result"], json!({}));
    assert_eq!(idle.rest(), b"");
    assert_eq!(daemon.ended().code(), Some(0));
    assert!(!home.socket().exists());
    // The archive was closed cleanly.
    assert!(!home.path().join("herma/archive.db-wal").exists());
    Daemon::start(&home).assert_serves();
}

#[test]
fn a_shutdown_waits_no_longer_than_it_is_told_to() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let held = home.hold(Target::Memory);
    under_way(&mut raw, "memory.add", &add("too late"));
    assert_eq!(daemon.raw().call("shutdown", &json!({ "drain_ms": 50 }))["result"], json!({}));
    assert_eq!(daemon.ended().code(), Some(0));
    assert_eq!(raw.rest(), b"");
    drop(held);
    assert!(!home.socket().exists());
    assert_eq!(memory(&mut Daemon::start(&home).raw()), json!([]));
}

/// Releases the lock right after the answer, several times, because the answer could arrive before the write is
/// cancelled.
#[test]
fn a_write_that_ran_out_of_time_is_told_and_never_done() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut expected = Vec::new();
    for (round, deadline) in [0, 1, 5].into_iter().cycle().take(60).enumerate() {
        let session = if round % 2 == 0 { json!({}) } else { json!({ "session": "s" }) };
        let held = home.hold(Target::Memory);
        let params = with(with(add(&format!("late {round}")), &session), &json!({ "deadline_ms": deadline }));
        let reply = raw.call("memory.add", &params);
        drop(held);
        assert_eq!(kind(&reply), "deadline_exceeded", "{reply}");
        assert_eq!(reply["error"]["data"]["retry"], true);
        expected.push(format!("in time {round}"));
        let generous = with(add(&expected[round]), &json!({ "deadline_ms": 30_000 }));
        assert_eq!(raw.call("memory.add", &generous)["result"]["entries"], json!(expected));
    }
}

#[test]
fn what_a_dead_connection_asked_for_is_never_done() {
    let home = Home::configured("[limits]\nconnections = 2\n");
    let daemon = Daemon::start(&home);
    let mut other = daemon.raw();
    assert_eq!(other.call("ping", &json!({}))["result"], json!({}));
    let held = home.hold(Target::Memory);
    let mut dead = daemon.raw();
    under_way(&mut dead, "memory.add", &add("from the dead"));
    drop(dead);
    // Once there is room for another connection, the daemon has noticed the closed one.
    eventually("the dead connection's place", || daemon.has_room().then_some(()));
    for _ in 0..200 {
        assert_eq!(other.call("ping", &json!({}))["result"], json!({}));
    }
    drop(held);
    assert_eq!(other.call("memory.add", &add("from the living"))["result"]["entries"], json!(["from the living"]));
}

#[test]
fn a_daemon_with_few_files_keeps_some_for_itself_and_for_status() {
    let home = Home::new();
    let daemon = Daemon::start_with_files(&home, 64);
    let mut served: Vec<Raw> = Vec::new();
    for at in 0..40 {
        let mut raw = daemon.raw();
        let answer = raw.call("session.open", &json!({ "session": format!("s{at}") }));
        if answer["result"].is_object() {
            served.push(raw);
            continue;
        }
        assert_eq!(kind(&answer), "busy", "{answer}");
    }
    assert_eq!(served.len(), 16);
    let status = Cli::new(&home).run(&["status", "--json"]).json();
    assert_eq!(status["sessions"]["open"], 16, "{status}");
    for (at, raw) in served.iter_mut().enumerate() {
        let kept = json!({ "session": format!("s{at}"), "tool": "t", "id": "c", "content": "x".repeat(400_000) });
        assert_eq!(raw.result("output.admit", &kept)["spilled"], true);
        assert_eq!(raw.result("memory.add", &add(&format!("entry {at}")))["success"], true);
    }
}

#[test]
fn a_repeated_key_gives_the_first_result_across_reconnects() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let key = json!({ "idempotency_key": "k1" });
    let first = daemon.raw().call("memory.add", &with(add("once"), &key))["result"].clone();
    assert_eq!(first["revision"], 1);
    let remove = json!({ "target": "memory", "old_text": "once" });
    assert_eq!(daemon.raw().call("memory.remove", &remove)["result"]["success"], true);
    for _ in 0..3 {
        assert_eq!(daemon.raw().call("memory.add", &with(add("once"), &key))["result"], first);
    }
    assert_eq!(home.entries(Target::Memory), [""; 0]);
    // The same key with any other request is refused.
    for (method, params) in [
        ("memory.add", add("twice")),
        ("memory.add", json!({ "target": "user", "content": "once" })),
        ("memory.remove", remove),
        ("session.open", json!({ "session": "once" })),
    ] {
        let reply = daemon.raw().call(method, &with(params, &key));
        assert_eq!(kind(&reply), "conflict", "{method}: {reply}");
    }
    // Reads ignore the key, and a refusal is a result too.
    assert!(daemon.raw().call("memory.list", &key)["result"].is_object());
    let refused = with(add(""), &json!({ "idempotency_key": "k2" }));
    let [one, two] = [(), ()].map(|()| daemon.raw().call("memory.add", &refused)["result"].clone());
    assert!(one == two && one["success"] == false);
}

#[test]
fn a_keyed_write_whose_caller_gave_up_is_done_once() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let held = home.hold(Target::Memory);
    let params = with(add("once"), &json!({ "idempotency_key": "k", "deadline_ms": 50 }));
    assert_eq!(kind(&raw.call("memory.add", &params)), "deadline_exceeded");
    // The write still runs. Another request with its key waits for it.
    let mut again = daemon.raw();
    let patient = with(add("once"), &json!({ "idempotency_key": "k" }));
    let id = under_way(&mut again, "memory.add", &patient);
    drop(held);
    let reply = again.read();
    assert_eq!((&reply["id"], &reply["result"]["revision"]), (&json!(id), &json!(1)), "{reply}");
    assert_eq!(raw.call("memory.add", &patient)["result"], reply["result"]);
    assert_eq!(home.entries(Target::Memory), ["once"]);
}

/// Several rounds, because answers of one session could overtake each other only by chance.
#[test]
fn requests_of_one_session_are_answered_in_order_and_others_overtake() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for session in ["s", "t"] {
        raw.call("session.open", &json!({ "session": session }));
    }
    for round in 0..25 {
        let held = home.hold(Target::Memory);
        let blocked = [
            raw.request("memory.add", &with(add(&format!("{round} one")), &json!({ "session": "s" }))),
            raw.request("session.snapshot", &json!({ "session": "s" })),
            raw.request("memory.add", &with(add(&format!("{round} two")), &json!({ "session": "s" }))),
            raw.request("output.admit", &json!({ "session": "s", "tool": "t", "id": "i", "content": "x" })),
        ];
        let overtaking = [
            raw.request("ping", &json!({})),
            raw.request("session.snapshot", &json!({ "session": "t" })),
            raw.request("output.admit", &json!({ "session": "t", "tool": "t", "id": "i", "content": "x" })),
            raw.request("guard.redact", &json!({ "text": "x" })),
        ];
        let mut first = overtaking.map(|_| raw.read()["id"].as_u64().unwrap());
        first.sort_unstable();
        assert_eq!(first, overtaking);
        drop(held);
        let then = blocked.map(|_| raw.read()["id"].as_u64().unwrap());
        assert_eq!(then, blocked, "round {round}");
    }
    let expected: Vec<String> = (0..25).flat_map(|round| [format!("{round} one"), format!("{round} two")]).collect();
    assert_eq!(home.entries(Target::Memory), expected);
}

/// Regression test: a request that timed out in the queue let later requests overtake earlier ones.
#[test]
fn a_request_that_ran_out_of_time_in_line_lets_nobody_overtake() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.call("session.open", &json!({ "session": "s" }));
    let held = home.hold(Target::Memory);
    let first = raw.request("memory.add", &with(add("one"), &json!({ "session": "s" })));
    let given_up = raw.call("memory.add", &with(add("two"), &json!({ "session": "s", "deadline_ms": 1 })));
    assert_eq!(kind(&given_up), "deadline_exceeded");
    let third = raw.request("session.snapshot", &json!({ "session": "s" }));
    assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    drop(held);
    assert_eq!([raw.read()["id"].clone(), raw.read()["id"].clone()], [json!(first), json!(third)]);
}

#[test]
fn requests_of_one_connection_are_read_ahead_up_to_a_bound() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let held = home.hold(Target::Memory);
    let ids: Vec<u64> =
        (0..64).map(|at| raw.request("memory.add", &with(add("x"), &json!({ "session": at.to_string() })))).collect();
    let ping = raw.request("ping", &json!({}));
    // The 65th request is not read before one of the 64 is answered.
    drop(held);
    let mut answered: Vec<u64> = (0..65).map(|_| raw.read()["id"].as_u64().unwrap()).collect();
    assert_ne!(answered[0], ping);
    answered.sort_unstable();
    assert_eq!(answered, ids.into_iter().chain([ping]).collect::<Vec<_>>());
}

#[test]
fn a_full_store_is_busy_and_what_it_took_is_done() {
    const CONNECTIONS: usize = 20;
    const EACH: usize = 64;
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let held = home.hold(Target::Memory);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for connection in 0..CONNECTIONS {
            let (mut raw, tell) = (daemon.raw(), tell.clone());
            scope.spawn(move || {
                for request in 0..EACH {
                    let session = format!("{connection}-{request}");
                    raw.request("memory.add", &with(add("the same"), &json!({ "session": session })));
                }
                for _ in 0..EACH {
                    tell.send(raw.read()).unwrap();
                }
            });
        }
        drop(tell);
        // While the lock is held, the only possible answer is that the queue is full.
        let first = told.recv().unwrap();
        assert_eq!((kind(&first), &first["error"]["data"]["retry"]), ("busy", &json!(true)), "{first}");
        daemon.assert_serves();
        drop(held);
        let (done, refused): (Vec<Value>, Vec<Value>) =
            told.iter().partition(|reply| reply["result"]["success"] == true);
        assert!(refused.iter().all(|reply| kind(reply) == "busy"));
        assert_eq!(done.len() + refused.len() + 1, CONNECTIONS * EACH);
        assert!(done.len() >= 1024, "{}", done.len());
    });
    assert_eq!(home.entries(Target::Memory), ["the same"]);
}

#[test]
fn a_peer_of_another_user_is_let_go() {
    const NOBODY: u32 = 65_534;
    if !Need::Root.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let open = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let script = r#"
import socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.settimeout(20)
try:
    peer.connect(sys.argv[1])
    peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    print("answer", peer.recv(1000))
except OSError as error:
    print("error", type(error).__name__)
"#;
    let python = if fs::exists("/usr/bin/python3").unwrap() { "/usr/bin/python3" } else { "python3" };
    let ask = || {
        let mut command = Command::new(python);
        command.args(["-c", script]).arg(home.socket()).current_dir("/").uid(NOBODY).gid(NOBODY);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(ask().trim(), "error PermissionError");
    // Even if the permissions on the path to the socket are open.
    open(home.path(), 0o755);
    open(&home.path().join("herma"), 0o755);
    open(&home.socket(), 0o666);
    let let_go = ask();
    assert!(["answer b''", "error BrokenPipeError", "error ConnectionResetError"].contains(&let_go.trim()), "{let_go}");
    daemon.assert_serves();
}

#[test]
fn a_daemon_that_waits_for_a_store_still_answers_for_the_rest() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let held = home.hold(Target::Memory);
    let id = under_way(&mut raw, "memory.add", &add("waits"));
    let mut other = daemon.raw();
    assert_eq!(other.call("memory.add", &json!({ "target": "user", "content": "x" }))["result"]["success"], true);
    assert!(other.call("memory.list", &json!({ "target": "user" }))["result"].is_object());
    assert!(other.call("guard.scan", &json!({ "text": "x" }))["result"].is_object());
    assert!(other.call("hello", &json!({}))["result"].is_object());
    drop(held);
    assert_eq!(raw.read()["id"], id);
}
