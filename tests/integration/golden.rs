//! The bytes of the wire are kept: one request and one reply of each method, in
//! both codecs. `HERMA_BLESS=1` writes the files anew.

mod samples;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use herma_protocol::binary::{self, ClientFrame, ServerFrame};
use herma_protocol::jsonrpc::{self, Incoming, Item, Line, ReplyTo};
use herma_protocol::memory::Target;
use herma_protocol::notification::{Cause, MemoryChanged, Notification};
use herma_protocol::{ErrorKind, Header, Method, Reply, Request, RpcError};
use serde_json::{Value, json};

/// Id of all samples.
const ID: u64 = 7;

/// Golden files that belong to no method.
const OTHERS: [&str; 5] =
    ["error", "notification", "notification.expired", "notification.progress", "notification.done"];

/// Hex digits a line.
const WIDTH: usize = 96;

fn header() -> Header {
    Header { profile: Some("work".into()), deadline_ms: Some(2500), idempotency_key: Some("key-1".into()) }
}

fn error() -> RpcError {
    RpcError::new(ErrorKind::Conflict, "MEMORY.md is at revision 4, not 3; read it again")
        .with_details(&json!({ "revision": 4, "entries": ["likes tea"] }))
}

#[test]
fn requests_and_replies_of_every_method_keep_their_json() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        let name = method.name();
        let sent = text(jsonrpc::write_request(ID, &header(), &request).unwrap());
        let answered = text(jsonrpc::write_reply("7", &Ok(reply.clone())));
        let golden = golden(&format!("{name}.json"), &format!("{sent}\n{answered}\n"));
        let (sent, answered) = golden.trim_end().split_once('\n').unwrap();
        let item = Item { reply_to: ReplyTo::Id("7".into()), request: Ok((header(), request)) };
        assert_eq!(jsonrpc::read_line(sent.as_bytes()), Line::One(item), "{name}");
        assert_eq!(jsonrpc::read_reply(answered.as_bytes(), *method).unwrap(), (Some(ID), Ok(reply)), "{name}");
    }
}

#[test]
fn requests_and_replies_of_every_method_keep_their_bytes() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        let sent = ClientFrame { id: ID, header: header(), request };
        let answered = ServerFrame::Reply { id: ID, outcome: Ok(reply) };
        let bytes = [binary::write(&sent).unwrap(), binary::write(&answered).unwrap()];
        let golden = golden(&format!("{}.hex", method.name()), &hex(&bytes));
        let [sent_bytes, answered_bytes] = from_hex(&golden);
        assert_eq!(binary::read::<ClientFrame>(&sent_bytes[4..]).unwrap(), sent, "{}", method.name());
        assert_eq!(binary::read::<ServerFrame>(&answered_bytes[4..]).unwrap(), answered, "{}", method.name());
    }
}

#[test]
fn an_error_keeps_its_json_and_its_bytes() {
    let request = Request::Ping(herma_protocol::daemon::PingParams {});
    let sent = text(jsonrpc::write_request(ID, &Header::default(), &request).unwrap());
    let answered = text(jsonrpc::write_reply("7", &Err(error())));
    let lines = golden("error.json", &format!("{sent}\n{answered}\n"));
    let (_, answered) = lines.trim_end().split_once('\n').unwrap();
    assert_eq!(jsonrpc::read_reply(answered.as_bytes(), Method::Ping).unwrap(), (Some(ID), Err(error())));

    let sent = ClientFrame { id: ID, header: Header::default(), request };
    let answered = ServerFrame::Reply { id: ID, outcome: Err(error()) };
    let bytes = [binary::write(&sent).unwrap(), binary::write(&answered).unwrap()];
    let [sent_bytes, answered_bytes] = from_hex(&golden("error.hex", &hex(&bytes)));
    assert_eq!(binary::read::<ClientFrame>(&sent_bytes[4..]).unwrap(), sent);
    assert_eq!(binary::read::<ServerFrame>(&answered_bytes[4..]).unwrap(), answered);
}

#[test]
fn notifications_keep_their_json_and_their_bytes() {
    let notification = Notification::MemoryChanged(MemoryChanged {
        profile: "work".into(),
        target: Target::User,
        revision: 300,
        cause: Cause::External,
        session: Some("s-1".into()),
    });
    keeps_its_json_and_its_bytes("notification", notification);
    keeps_its_json_and_its_bytes("notification.expired", Notification::OutputExpired(samples::outputs::gone()));
    keeps_its_json_and_its_bytes("notification.progress", samples::contexts::progress());
    keeps_its_json_and_its_bytes("notification.done", samples::contexts::done());
}

/// Compares a notification with the golden files of a name, in both codecs.
fn keeps_its_json_and_its_bytes(name: &str, notification: Notification) {
    let line = golden(&format!("{name}.json"), &format!("{}\n", text(jsonrpc::write_notification(&notification))));
    let read = jsonrpc::read_incoming(line.trim_end().as_bytes(), Method::Ping).unwrap();
    assert_eq!(read, Incoming::Notification(Some(notification.clone())));

    let frame = ServerFrame::Notification(notification);
    let bytes = [binary::write(&frame).unwrap(), Vec::new()];
    let [bytes, _] = from_hex(&golden(&format!("{name}.hex"), &hex(&bytes)));
    assert_eq!(binary::read::<ServerFrame>(&bytes[4..]).unwrap(), frame);
}

#[test]
fn every_field_of_a_sample_is_set() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        assert_eq!(request.method(), *method);
        for value in [serde_json::to_value(&request).unwrap(), serde_json::to_value(&reply).unwrap()] {
            assert_eq!(unset(&value, ""), None, "{}", method.name());
        }
        let of_reply = Reply::from_json(*method, &raw(&reply)).unwrap();
        assert_eq!(of_reply, reply, "{}", method.name());
    }
}

#[test]
fn no_golden_file_is_left_of_a_method_that_is_gone() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".hex"));
        assert!(stem.is_some_and(|stem| OTHERS.contains(&stem) || Method::from_name(stem).is_some()), "{name}");
    }
}

#[test]
fn every_method_has_its_heading_in_the_docs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    let docs = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let missing: Vec<&str> = Method::ALL
        .iter()
        .map(|method| method.name())
        .filter(|name| !docs.lines().any(|line| line.trim_end() == format!("### `{name}`")))
        .collect();
    assert!(missing.is_empty(), "no heading for {missing:?}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// The golden text, which must be the one that is written today.
fn golden(name: &str, today: &str) -> String {
    let path = folder().join(name);
    if std::env::var_os("HERMA_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(&path, today).unwrap();
    }
    let golden = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; HERMA_BLESS=1 writes it, if the method is new", path.display()));
    assert_eq!(golden, today, "{name} has changed; if that is meant, it is a new protocol version");
    golden
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn raw(reply: &Reply) -> Box<serde_json::value::RawValue> {
    serde_json::value::to_raw_value(reply).unwrap()
}

/// Where a null is, if there is one.
fn unset(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Null => Some(path.to_owned()),
        Value::Array(items) => items.iter().find_map(|item| unset(item, &format!("{path}[]"))),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| unset(field, &format!("{path}.{name}"))),
        _ => None,
    }
}

/// Both frames in hex, each under its heading.
fn hex(frames: &[Vec<u8>; 2]) -> String {
    let mut text = String::new();
    for (heading, frame) in ["request", "reply"].iter().zip(frames) {
        writeln!(text, "{heading}").unwrap();
        let digits = frame.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
        for line in digits.as_bytes().chunks(WIDTH) {
            writeln!(text, "{}", std::str::from_utf8(line).unwrap()).unwrap();
        }
    }
    text
}

fn from_hex(text: &str) -> [Vec<u8>; 2] {
    let (request, reply) = text.strip_prefix("request\n").unwrap().split_once("reply\n").unwrap();
    [request, reply].map(|lines| {
        let digits: String = lines.split_whitespace().collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    })
}
