//! Bytes that are not frames, and peers that misbehave. Other clients are still served.

use std::time::Duration;

use herma_client::{Client, ClientError, Codec};
use herma_protocol::daemon::{HelloParams, PingParams};
use herma_protocol::version::{PREFACE, PROTOCOL};
use herma_protocol::{ErrorKind, Header, Incoming, Request, RpcError, binary};
use herma_tests::cli::Cli;
use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::json;

const MEGABYTE: u64 = 1 << 20;

fn ping(id: u64) -> Vec<u8> {
    binary::write_request(id, &Header::default(), &Request::Ping(PingParams {})).unwrap()
}

fn error(frame: Incoming) -> (u64, RpcError) {
    let Incoming::Reply(Some(id), outcome) = frame else { panic!("{frame:?}") };
    (id, outcome.unwrap_err())
}

#[test]
fn a_forged_length_is_refused_and_takes_no_memory() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (_, before) = daemon.memory_when_warm();
    for length in [u32::MAX, (64 << 20) + 1] {
        let mut raw = daemon.raw();
        raw.preface();
        raw.send(&length.to_le_bytes());
        let (id, error) = error(raw.read_frame());
        assert_eq!((id, error.kind), (0, ErrorKind::TooLarge));
        assert!(error.message.contains(&length.to_string()), "{}", error.message);
        assert_eq!(raw.rest(), b"");
    }
    // A length within the limit is accepted, but must not be allocated at once.
    let mut waiting: Vec<Raw> = (0..8)
        .map(|_| {
            let mut raw = daemon.raw();
            raw.preface();
            raw.send(&(60u32 << 20).to_le_bytes());
            raw.send(&[0; 100]);
            raw
        })
        .collect();
    daemon.assert_serves();
    let (_, after) = daemon.memory();
    assert!(after - before < 4 * MEGABYTE, "{before} -> {after}");
    for raw in &mut waiting {
        raw.finish();
        assert_eq!(raw.rest(), b"");
    }
    daemon.assert_serves();
}

#[test]
fn a_line_without_an_end_is_refused_at_the_configured_limit() {
    let home = Home::configured("[limits]\nframe = \"1MiB\"\n");
    let daemon = Daemon::start(&home);
    let (_, before) = daemon.memory_when_warm();
    let mut raw = daemon.raw();
    // The daemon closes the connection, so some bytes can't be sent.
    drop(raw.send_while_taken(&vec![b'{'; 8 << 20], Duration::from_secs(10)));
    let answer = String::from_utf8(raw.rest()).unwrap();
    assert!(answer.contains("too_large") && answer.contains("1048576"), "{answer}");
    let (_, after) = daemon.memory();
    assert!(after - before < 8 * MEGABYTE, "{before} -> {after}");
    daemon.assert_serves();
}

#[test]
fn a_frame_of_exactly_the_limit_is_served() {
    let home = Home::configured("[limits]\nframe = \"1MiB\"\n");
    let daemon = Daemon::start(&home);
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "guard.scan", "params": { "text": "" } }).to_string();
    let text = "a".repeat((1 << 20) - bare.len());
    let line = |text: &str| bare.replace("\"text\":\"\"", &format!("\"text\":\"{text}\""));
    assert_eq!(line(&text).len(), 1 << 20);
    assert_eq!(daemon.raw().ask(&line(&text))["result"]["findings"], json!([]));
    let mut raw = daemon.raw();
    drop(raw.send_while_taken(format!("{}\n", line(&format!("{text}a"))).as_bytes(), Duration::from_secs(10)));
    assert_eq!(kind(&raw.read()), "too_large");
    daemon.assert_serves();
}

#[test]
fn frames_that_are_cut_short_end_only_their_connection() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let whole = ping(3);
    for cut in 1..whole.len() {
        let mut raw = daemon.raw();
        raw.preface();
        raw.send(&whole[..cut]);
        raw.finish();
        assert_eq!(raw.rest(), b"", "cut at {cut}");
    }
    daemon.assert_serves();
}

#[test]
fn a_payload_that_is_no_request_is_told_and_the_next_one_served() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.preface();
    let payloads: [&[u8]; 6] =
        [b"", b"\xff\xff\xff\xff", b"\x07", b"\x01\x00\x00\x00\xfb\xff\xff", &[0; 64], b"{\"jsonrpc\":\"2.0\"}"];
    for payload in payloads {
        raw.send(&u32::try_from(payload.len()).unwrap().to_le_bytes());
        raw.send(payload);
        let (id, error) = error(raw.read_frame());
        assert_eq!((id, error.kind), (0, ErrorKind::ParseError), "{payload:?}");
        raw.send(&ping(9));
        let Incoming::Reply(Some(id), outcome) = raw.read_frame() else { panic!("no answer") };
        assert!(id == 9 && outcome.is_ok());
    }
}

#[test]
fn a_binary_text_that_is_not_utf_8_or_forges_its_length_is_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let request = Request::Hello(HelloParams { client: Some("zzzz".into()), protocol: None });
    let frame = binary::write_request(1, &Header::default(), &request).unwrap();
    let at = |text: &[u8]| frame.windows(text.len()).position(|window| window == text).unwrap();
    let forged = |text: &[u8], change: fn(&mut Vec<u8>, usize)| {
        let mut frame = frame.clone();
        change(&mut frame, at(text));
        frame
    };
    let long: fn(&mut Vec<u8>, usize) = |frame, at| {
        frame.splice(at - 1..at, [253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        frame[0] += 8;
    };
    let (_, before) = daemon.memory_when_warm();
    for frame in [
        forged(b"zzzz", |frame, at| frame[at] = 0xff),
        forged(b"hello", |frame, at| frame[at] = 0xff),
        forged(b"hello", |frame, at| frame[at - 1] = 250),
        forged(b"{", |frame, at| frame[at - 1] = 250),
        forged(b"hello", long),
        forged(b"{", long),
    ] {
        let mut raw = daemon.raw();
        raw.preface();
        raw.send(&frame);
        assert_eq!(error(raw.read_frame()).1.kind, ErrorKind::ParseError);
    }
    let (_, after) = daemon.memory();
    assert!(after - before < 4 * MEGABYTE, "{before} -> {after}");
    daemon.assert_serves();
}

#[test]
fn a_wrong_preface_is_told_and_ends_the_connection() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for preface in [&b"HERMA\0\x02\x07"[..], b"HELLO\n", b"HTTP/1.1 200\r\n"] {
        let mut raw = daemon.raw();
        raw.send(preface);
        let answer = String::from_utf8(raw.rest()).unwrap();
        assert!(answer.contains("parse_error") && answer.contains("preface"), "{preface:?}: {answer}");
    }
    // An HTTP client can't read the answer either, but it gets one.
    let answer = daemon.raw().ask("GET / HTTP/1.1");
    assert_eq!(kind(&answer), "parse_error");
    daemon.assert_serves();
}

#[test]
fn a_line_that_is_not_utf_8_is_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"profile\":\"\xff\xfe\"}}\n");
    let reply = raw.read();
    assert_eq!(kind(&reply), "parse_error");
    assert!(reply["error"]["message"].as_str().unwrap().contains("UTF-8"), "{reply}");
    assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_client_that_says_nothing_keeps_nobody_waiting() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut silent: Vec<Raw> = (0..20).map(|_| daemon.raw()).collect();
    let mut half: Vec<Raw> = (0..20)
        .map(|_| {
            let mut raw = daemon.raw();
            raw.send(b"HERMA");
            raw
        })
        .collect();
    daemon.assert_serves();
    for raw in &mut silent {
        assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    }
    // A client that completes the preface in time is served. One that stops is disconnected.
    half[0].send(&PREFACE[5..]);
    half[0].send(&ping(4));
    assert!(matches!(half[0].read_frame(), Incoming::Reply(Some(4), Ok(_))));
    half[1].finish();
    assert_eq!(half[1].rest(), b"");
    daemon.assert_serves();
}

#[test]
fn half_a_preface_is_let_go_after_a_while() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.send(b"HERMA\0");
    assert_eq!(raw.rest(), b"");
    daemon.assert_serves();
}

#[test]
fn a_client_that_never_reads_takes_little_memory_and_nobody_s_turn() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (before, _) = daemon.memory_when_warm();
    let mut raw = daemon.raw();
    let hello = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n".repeat(50_000);
    let taken = raw.send_while_taken(&hello, Duration::from_millis(500)).unwrap();
    assert!(taken < hello.len(), "the daemon read all {taken} bytes although nobody read its answers");
    daemon.assert_serves();
    let (_, most) = daemon.memory();
    assert!(most - before < 12 * MEGABYTE, "{before} -> {most}");
    // Requests that the daemon accepted are answered as soon as the client reads.
    let whole = taken / (hello.len() / 50_000);
    for _ in 0..whole {
        assert_eq!(raw.read()["result"]["protocol"], PROTOCOL);
    }
}

#[test]
fn one_connection_too_many_is_answered_busy() {
    let home = Home::configured("[limits]\nconnections = 3\n");
    let daemon = Daemon::start(&home);
    let mut first: Vec<Raw> = (0..3).map(|_| daemon.raw()).collect();
    for raw in &mut first {
        assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    }
    let mut fourth = daemon.raw();
    let reply = fourth.read();
    assert_eq!((kind(&reply), &reply["error"]["data"]["retry"]), ("busy", &json!(true)));
    assert_eq!(fourth.rest(), b"");
    // The typed client reports the error in both codecs, however fast the daemon closes the connection.
    for codec in [Codec::Json, Codec::Bincode].into_iter().cycle().take(100) {
        let refused = Client::connect_with(&home.place(), codec).and_then(|mut client| client.ping(PingParams {}));
        assert!(matches!(&refused, Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Busy), "{refused:?}");
    }
    assert_eq!(first[0].call("ping", &json!({}))["result"], json!({}));
    drop(first.pop());
    eventually("a free place", || daemon.has_room().then_some(()));
}

#[test]
fn a_full_daemon_can_still_be_asked_how_it_is_and_be_stopped() {
    let home = Home::configured("[limits]\nconnections = 2\n");
    let mut daemon = Daemon::start(&home);
    let mut busy: Vec<Raw> = (0..2).map(|_| daemon.raw()).collect();
    for raw in &mut busy {
        assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    }
    let mut asking = daemon.raw();
    assert_eq!(asking.result("status", &json!({}))["connections"], json!(3));
    // A connection over the limit may ask for `status`. Any other request, or none, gets `busy`.
    assert_eq!(kind(&asking.call("memory.list", &json!({ "target": "user" }))), "busy");
    assert_eq!(asking.rest(), b"");
    assert_eq!(kind(&daemon.raw().read()), "busy");
    let cli = Cli::new(&home);
    assert_eq!(cli.run(&["status"]).code, 0);
    assert_eq!(cli.run(&["daemon", "stop", "--drain", "1"]).done(), "stopped\n");
    assert_eq!(daemon.ended().code(), Some(0));
}

#[test]
fn who_says_nothing_gives_way_when_the_house_is_full() {
    let home = Home::configured("[limits]\nconnections = 2\n");
    let daemon = Daemon::start(&home);
    let mut silent = daemon.raw();
    let mut busy = daemon.raw();
    assert_eq!(busy.call("ping", &json!({}))["result"], json!({}));
    assert_eq!(silent.rest(), b"", "it is closed");
    assert_eq!(daemon.raw().call("ping", &json!({}))["result"], json!({}));
    assert_eq!(busy.call("ping", &json!({}))["result"], json!({}));
}

#[test]
fn frames_larger_than_what_may_be_in_flight_are_served_one_after_the_other() {
    let home = Home::configured("[limits]\nframe = \"4MiB\"\nin_flight = \"1MiB\"\n");
    let daemon = Daemon::start(&home);
    let text = "a".repeat(2 << 20);
    let line =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "context.estimate", "params": { "text": text } }).to_string();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(daemon.raw().ask(&line)["result"]["tokens"], json!((2 << 20) / 4)));
        }
    });
}
