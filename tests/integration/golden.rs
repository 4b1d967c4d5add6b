//! Checks that protocol 2 stays readable for good. The golden files have one request and one reply of each method, in
//! both codecs, as they were when the method was new.
//!
//! A later version must read every file, and its own output must have every field in them. New optional fields change
//! no file.

pub(crate) mod files;
pub(crate) mod samples;

use std::fs;
use std::path::Path;

use herma_protocol::binary::{self, ClientFrame};
use herma_protocol::jsonrpc::{self, Item, Line, ReplyTo};
use herma_protocol::memory::Target;
use herma_protocol::notification::{Cause, FilesChanged, MemoryChanged, Notification};
use herma_protocol::{ErrorKind, Header, Incoming, Method, Reply, Request, RpcError};
use herma_tests::Envelope;
use serde_json::{Value, json};

use files::{assert_grown, folder, golden};

/// Id of all samples.
const ID: u64 = 7;

/// Golden files that do not belong to a method.
const OTHERS: [&str; 15] = [
    "error",
    "notification",
    "notification.expired",
    "notification.files",
    "notification.session_expired",
    "notification.progress",
    "notification.done",
    "notification.by_agent",
    "notification.session",
    "notification.messages",
    "notification.spilled",
    "notification.refused",
    "notification.window",
    "attached",
    "attachable",
];

fn header() -> Header {
    Header { profile: Some("work".into()), deadline_ms: Some(2500), idempotency_key: Some("key-1".into()), replaced: 0 }
}

fn error() -> RpcError {
    RpcError::new(ErrorKind::Conflict, "MEMORY.md is at revision 4, not 3; read it again")
        .with_details(&json!({ "revision": 4, "entries": ["likes tea"] }))
}

#[test]
fn requests_and_replies_of_every_method_are_read_from_their_lines() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        let name = method.name();
        let today = [
            jsonrpc::write_request(ID, &header(), &request).unwrap(),
            jsonrpc::write_reply("7", &Ok(reply)),
            Vec::new(),
        ];
        let file = text(golden(&format!("{name}.json"), &today.join(&b'\n')));
        let [sent, answered] = lines(&file);
        // The output of this build has every field of the golden file.
        assert_same_or_grown(sent, &today[0], name);
        assert_same_or_grown(answered, &today[1], name);
        // And this build reads the golden file.
        let Line::One(Item { reply_to, request: Ok((told, request)) }) = jsonrpc::read_line(sent.as_bytes()) else {
            panic!("{name}: {sent}")
        };
        assert_eq!((reply_to, &told), (ReplyTo::Id("7".into()), &header()), "{name}");
        let again = jsonrpc::write_request(ID, &told, &request).unwrap();
        assert_grown(&value(sent.as_bytes()), &value(&again), name);
        let (id, reply) = jsonrpc::read_reply(answered.as_bytes(), *method).unwrap();
        assert_eq!(id, Some(ID), "{name}");
        assert_grown(&value(answered.as_bytes()), &value(&jsonrpc::write_reply("7", &reply)), name);
    }
}

#[test]
fn requests_and_replies_of_every_method_are_read_from_their_frames() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        let name = method.name();
        keeps_its_frames(name, &header(), &request, &Ok(reply));
    }
}

#[test]
fn an_error_is_read_from_its_line_and_its_frame() {
    let request = Request::Ping(herma_protocol::daemon::PingParams {});
    let today = [
        jsonrpc::write_request(ID, &Header::default(), &request).unwrap(),
        jsonrpc::write_reply("7", &Err(error())),
        Vec::new(),
    ];
    let file = text(golden("error.json", &today.join(&b'\n')));
    let [sent, answered] = lines(&file);
    assert_eq!((sent.as_bytes(), answered.as_bytes()), (today[0].as_slice(), today[1].as_slice()));
    assert_eq!(jsonrpc::read_reply(answered.as_bytes(), Method::Ping).unwrap(), (Some(ID), Err(error())));
    keeps_its_frames("error", &Header::default(), &request, &Err(error()));
}

#[test]
fn attachments_are_read_from_their_frames() {
    let (request, reply) = samples::attached();
    keeps_its_frames("attached", &Header::default(), &request, &Ok(reply));
    let bytes = golden("attached.bin", b"");
    let rest = &mut bytes.as_slice();
    assert!(Envelope::take(rest).attachments.len() > 1 && !Envelope::take(rest).attachments.is_empty());
}

/// Reads the frames of a golden file, and compares them with those of this build.
fn keeps_its_frames(name: &str, header: &Header, request: &Request, outcome: &Result<Reply, RpcError>) {
    let mut today = binary::write_request(ID, header, request).unwrap();
    binary::append_reply(ID, outcome, &mut today).unwrap();
    let file = golden(&format!("{name}.bin"), &today);
    let (rest, today) = (&mut file.as_slice(), &mut today.as_slice());
    for _ in ["request", "reply"] {
        let (before, after) = (Envelope::take(rest), Envelope::take(today));
        assert_same_envelope(&before, &after, name);
    }
    assert!(rest.is_empty(), "{name}");

    let rest = &mut file.as_slice();
    let (sent, answered) = (Envelope::take(rest), Envelope::take(rest));
    for read in [binary::read_request(&sent.payload()), binary::read_request_taking(&mut sent.payload())] {
        let ClientFrame { id, request: Ok((told, request)) } = read.unwrap() else { panic!("{name}") };
        assert_eq!((id, &told), (ID, header), "{name}");
        let again = binary::write_request(ID, &told, &request).unwrap();
        assert_same_envelope(&sent, &Envelope::take(&mut again.as_slice()), name);
    }
    let Incoming::Reply(Some(ID), outcome) = binary::read_incoming(answered.payload()).unwrap() else {
        panic!("{name}")
    };
    let mut again = Vec::new();
    binary::append_reply(ID, &outcome, &mut again).unwrap();
    assert_same_envelope(&answered, &Envelope::take(&mut again.as_slice()), name);
}

#[test]
fn notifications_are_read_from_their_lines_and_their_frames() {
    let notification = Notification::MemoryChanged(MemoryChanged {
        profile: "work".into(),
        target: Target::User,
        revision: 300,
        cause: Cause::External,
        session: Some("s-1".into()),
        agent: None,
    });
    keeps_its_line_and_its_frame("notification", &notification);
    keeps_its_line_and_its_frame("notification.expired", &Notification::OutputExpired(samples::outputs::gone()));
    let files = Notification::FilesChanged(FilesChanged {
        profile: "work".into(),
        revision: 300,
        cause: Cause::Write,
        paths: vec!["/memories/notes/plan.md".into()],
        session: Some("s-1".into()),
        agent: None,
    });
    keeps_its_line_and_its_frame("notification.files", &files);
    let gone = Notification::SessionExpired(samples::outputs::gone_session());
    keeps_its_line_and_its_frame("notification.session_expired", &gone);
    for (name, notification) in samples::notifications::later() {
        keeps_its_line_and_its_frame(name, &notification);
    }
    keeps_its_line_and_its_frame("notification.progress", &samples::contexts::progress());
    keeps_its_line_and_its_frame("notification.done", &samples::contexts::done());
}

fn keeps_its_line_and_its_frame(name: &str, notification: &Notification) {
    let today = jsonrpc::write_notification(notification);
    let file = text(golden(&format!("{name}.json"), &[today.clone(), Vec::new()].join(&b'\n')));
    let line = file.trim_end();
    assert_same_or_grown(line, &today, name);
    let told = |incoming| match incoming {
        Incoming::Notification(Some(told)) => told,
        other => panic!("{name}: {other:?}"),
    };
    let read = told(jsonrpc::read_incoming(line.as_bytes(), Method::Ping).unwrap());
    assert_grown(&value(line.as_bytes()), &value(&jsonrpc::write_notification(&read)), name);

    let mut today = Vec::new();
    binary::append_notification(notification, &mut today).unwrap();
    let file = golden(&format!("{name}.bin"), &today);
    let before = Envelope::take(&mut file.as_slice());
    assert_same_envelope(&before, &Envelope::take(&mut today.as_slice()), name);
    let read = told(binary::read_incoming(before.payload()).unwrap());
    let mut again = Vec::new();
    binary::append_notification(&read, &mut again).unwrap();
    assert_same_envelope(&before, &Envelope::take(&mut again.as_slice()), name);
}

#[test]
fn every_field_of_a_sample_is_set() {
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        assert_eq!((request.method(), reply.method()), (*method, *method));
        for value in [serde_json::to_value(&request).unwrap(), serde_json::to_value(&reply).unwrap()] {
            assert_eq!(unset(&value, ""), None, "{}", method.name());
        }
        let of_reply = Reply::from_json(*method, &serde_json::to_string(&reply).unwrap()).unwrap();
        assert_eq!(of_reply, reply, "{}", method.name());
    }
}

#[test]
fn no_golden_file_is_left_of_a_method_that_is_gone() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let (stem, _) = name.rsplit_once('.').unwrap();
        assert!(OTHERS.contains(&stem) || Method::from_name(stem).is_some(), "{name}");
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

/// Checks that no field is lost. If no field is new, the bytes must be equal, too.
#[track_caller]
fn assert_same_or_grown(before: &str, after: &[u8], name: &str) {
    let (then, now) = (value(before.as_bytes()), value(after));
    assert_grown(&then, &now, name);
    if then == now {
        assert_eq!(before.as_bytes(), after, "{name}");
    }
}

#[track_caller]
fn assert_same_envelope(before: &Envelope, after: &Envelope, name: &str) {
    assert_same_or_grown(&before.body, after.body.as_bytes(), name);
    let without_body = |envelope: &Envelope| Envelope { body: String::new(), ..envelope.clone() };
    assert_eq!(without_body(before), without_body(after), "{name}");
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn lines(file: &str) -> [&str; 2] {
    file.trim_end().split_once('\n').unwrap().into()
}

fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

/// Returns the path of the first null.
fn unset(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Null => Some(path.to_owned()),
        Value::Array(items) => items.iter().find_map(|item| unset(item, &format!("{path}[]"))),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| unset(field, &format!("{path}.{name}"))),
        _ => None,
    }
}
