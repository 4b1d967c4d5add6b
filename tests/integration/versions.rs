//! Sides of different versions: each is told which of the two is the older one, and what to
//! do, in a form that it can read.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};

use herma_client::{Client, ClientError, Codec};
use herma_protocol::ErrorKind;
use herma_protocol::daemon::{HelloParams, PingParams};
use herma_protocol::version::{OLDEST, PREFACE, PROTOCOL};
use herma_tests::{Cli, Daemon, Home, kind};
use serde_json::{Value, json};

/// An answer that a daemon of a later version may give to this client.
const VERSION_9: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"this client speaks protocol 2, the daemon 9: the client is the older one; upgrade it\",\"data\":{\"kind\":\"invalid_request\",\"retry\":false,\"fault\":\"caller\"}}}\n";

/// Starts a fake daemon. It accepts `connections` connections, reads `reads` bytes from each, answers and closes.
fn fake(home: &Home, connections: usize, reads: usize, answer: &'static str) -> JoinHandle<()> {
    std::fs::create_dir_all(home.socket().parent().unwrap()).unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            let mut stream = stream.unwrap();
            stream.read_exact(&mut vec![0; reads]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    })
}

#[test]
fn a_client_of_an_older_or_newer_version_reads_why_it_is_refused() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let newest =
        format!("this client speaks protocol 9, the daemon {PROTOCOL}: the daemon is the older one; restart it");
    let oldest =
        format!("this client speaks protocol 1, the daemon {PROTOCOL}: the client is the older one; upgrade it");
    // A ping as version 1 wrote it comes right behind its preface.
    let ping = b"\x05\0\0\0\x01\0\0\0\x01";
    for (version, words) in [(1, &oldest), (9, &newest)] {
        let mut raw = daemon.raw();
        raw.send(&[&PREFACE[..6], &[version, 1], ping].concat());
        let answer = String::from_utf8(raw.rest()).unwrap();
        let line: Value = serde_json::from_str(answer.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(
            (kind(&line), &line["id"], line["jsonrpc"].as_str()),
            ("invalid_request", &json!(null), Some("2.0"))
        );
        assert!(line["error"]["message"].as_str().unwrap().starts_with(words), "{answer}");
    }
    // A client that waits for a frame reads the line's first bytes as a length that no frame has.
    let length = u32::from_le_bytes(*b"{\"js");
    assert!(usize::try_from(length).unwrap() > herma_protocol::limits::FRAME_CEILING);
    daemon.assert_serves();
}

#[test]
fn a_daemon_of_a_newer_version_is_named_by_the_client() {
    let home = Home::new();
    // The daemon may read the preface only, or the request after it too.
    for reads in [PREFACE.len(), PREFACE.len() + 4] {
        let daemon = fake(&home, 20, reads, VERSION_9);
        for _ in 0..20 {
            let refused = Client::connect(&home.place()).and_then(|mut client| client.ping(PingParams {}));
            let Err(ClientError::Rpc(error)) = refused else { panic!("{refused:?}") };
            assert_eq!(error.kind, ErrorKind::InvalidRequest);
            assert!(
                error.message.starts_with("this client speaks protocol 2, the daemon 9: ")
                    && error.message.ends_with("the client is the older one; upgrade it"),
                "{error}"
            );
        }
        daemon.join().unwrap();
        std::fs::remove_file(home.socket()).unwrap();
    }
}

#[test]
fn the_command_line_stops_a_daemon_of_another_version() {
    let home = Home::new();
    std::fs::create_dir_all(home.socket().parent().unwrap()).unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let (socket, path) = (home.socket(), home.path().to_owned());
    let daemon = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut answer = |method: &str, result: Value| {
            let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            assert_eq!(line["method"], json!(method));
            writeln!(stream, "{}", json!({ "jsonrpc": "2.0", "id": line["id"], "result": result })).unwrap();
        };
        let limits = json!({ "frame": 1, "in_flight": 1, "connections": 1, "requests": 1 });
        let server =
            json!({ "server": "hermad 0.1.0", "protocol": 1, "pid": 1, "home": path, "methods": [], "limits": limits });
        answer("hello", server);
        std::fs::remove_file(socket).unwrap();
        answer("shutdown", json!({}));
    });
    assert_eq!(Cli::new(&home).run(&["daemon", "stop"]).done(), "stopped\n");
    daemon.join().unwrap();
}

#[test]
fn hello_agrees_on_what_both_sides_speak() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (asked, agreed) in [(None, PROTOCOL), (Some(OLDEST), OLDEST), (Some(PROTOCOL), PROTOCOL), (Some(9), PROTOCOL)] {
        for codec in [Codec::Json, Codec::Bincode] {
            let hello = daemon.client_with(codec).hello(HelloParams { client: None, protocol: asked }).unwrap();
            assert_eq!(hello.protocol, agreed, "{asked:?}");
        }
    }
    let refused = daemon.client().hello(HelloParams { client: None, protocol: Some(0) });
    let Err(ClientError::Rpc(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.kind, ErrorKind::InvalidParams);
    let words =
        format!("this client speaks protocol 0, the daemon {PROTOCOL}: the client is the older one; upgrade it");
    assert!(error.message.contains(&words), "{error}");
}

#[test]
fn a_client_that_agrees_on_nothing_says_who_is_older() {
    for (offered, words) in [(0, "the daemon is the older one"), (9, "the client is the older one")] {
        let home = Home::new();
        std::fs::create_dir_all(home.socket().parent().unwrap()).unwrap();
        let listener = UnixListener::bind(home.socket()).unwrap();
        let daemon = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let limits = json!({ "frame": 1, "in_flight": 1, "connections": 1, "requests": 1 });
            let result =
                json!({ "server": "s", "protocol": offered, "pid": 1, "home": "h", "methods": [], "limits": limits });
            writeln!(stream, "{}", json!({ "jsonrpc": "2.0", "id": 1, "result": result })).unwrap();
        });
        let mut client = Client::connect_with(&home.place(), Codec::Json).unwrap();
        let refused = client.hello(HelloParams { client: None, protocol: Some(PROTOCOL) });
        let Err(ClientError::Rpc(error)) = refused else { panic!("{refused:?}") };
        let expected = format!("this client speaks protocol {PROTOCOL}, the daemon {offered}: {words}");
        assert!(error.message.starts_with(&expected), "{error}");
        daemon.join().unwrap();
    }
}
