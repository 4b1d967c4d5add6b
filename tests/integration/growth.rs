//! Checks that the protocol can grow. A reply with new fields is read, a request with new fields gets a warning, and
//! the set of fields that may be attached is fixed.

use herma_protocol::binary::{self, ClientFrame};
use herma_protocol::daemon::{PingParams, PingResult};
use herma_protocol::jsonrpc::{self, Item, Line};
use herma_protocol::{ErrorKind, Header, Incoming, Method, Reply, Request, RpcError};
use herma_tests::{Daemon, Envelope, Form, Home, Kind};
use serde_json::{Value, json};

use crate::golden::files::{assert_grown, golden};
use crate::golden::samples;

/// Objects whose keys are names of things, not fields.
const MAPS: [&str; 1] = ["by_method"];

#[test]
fn an_answer_with_more_fields_is_read_in_both_codecs() {
    for method in Method::ALL {
        let name = method.name();
        let before = serde_json::to_value(samples::of(*method).1).unwrap();
        let mut more = before.clone();
        add_fields(&mut more);
        assert_ne!(more, before);
        for reply in answers(*method, &more) {
            let after = serde_json::to_value(reply.unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap();
            assert_grown(&before, &after, name);
        }
    }
}

#[test]
fn an_error_and_a_notification_with_more_fields_are_read_in_both_codecs() {
    let error = r#"{"code":-32002,"new":{},"message":"later","data":{"kind":"busy","new":[1],"retry":true}}"#;
    let expected = RpcError::new(ErrorKind::Busy, "later").with_details(&json!({ "new": [1] }));
    let line = format!(r#"{{"jsonrpc":"2.0","new":1,"id":7,"error":{error}}}"#);
    let (_, outcome) = jsonrpc::read_reply(line.as_bytes(), Method::Ping).unwrap();
    assert_eq!(outcome.unwrap_err(), expected);
    let frame = Envelope::new(7, Kind::Error, "", error);
    assert_eq!(binary::read_incoming(frame.payload()).unwrap(), Incoming::Reply(Some(7), Err(expected)));

    let mut params = serde_json::to_value(samples::contexts::done()).unwrap();
    add_fields(&mut params);
    let line = json!({ "jsonrpc": "2.0", "method": "compression.done", "params": params }).to_string();
    let frame = Envelope::new(0, Kind::Notification, "compression.done", &params.to_string());
    let expected = Incoming::Notification(Some(samples::contexts::done()));
    assert_eq!(jsonrpc::read_incoming(line.as_bytes(), Method::Ping).unwrap(), expected);
    assert_eq!(binary::read_incoming(frame.payload()).unwrap(), expected);
}

#[test]
fn a_notification_of_a_topic_that_is_not_known_is_passed_over_in_both_codecs() {
    let line = br#"{"jsonrpc":"2.0","method":"store.moved","params":{"to":1}}"#;
    assert_eq!(jsonrpc::read_incoming(line, Method::Ping).unwrap(), Incoming::Notification(None));
    let frame = Envelope::new(0, Kind::Notification, "store.moved", r#"{"to":1}"#);
    assert_eq!(binary::read_incoming(frame.payload()).unwrap(), Incoming::Notification(None));
}

#[test]
fn an_unknown_param_of_a_newer_client_is_the_same_error_in_both_codecs() {
    for method in Method::ALL {
        let name = method.name();
        let mut params = serde_json::to_value(samples::of(*method).0).unwrap();
        params["a_new_param"] = json!(1);
        let line = json!({ "jsonrpc": "2.0", "id": 7, "method": name, "params": params }).to_string();
        let Line::One(Item { request: Err(in_line), .. }) = jsonrpc::read_line(line.as_bytes()) else {
            panic!("{name}")
        };
        let frame = Envelope::new(7, Kind::Request, name, &params.to_string());
        let ClientFrame { id, request } = binary::read_request(&frame.payload()).unwrap();
        assert_eq!((id, request.unwrap_err()), (7, in_line.clone()), "{name}");
        assert_eq!(in_line.kind, ErrorKind::InvalidParams);
        assert!(in_line.message.contains("unknown param `a_new_param`"), "{}", in_line.message);
    }
}

/// Every client of this version reads the attachable fields of today. No such client could read an existing field that
/// becomes attachable later.
#[test]
fn the_fields_that_may_be_attached_are_settled() {
    let mut today = Vec::new();
    for method in Method::ALL {
        let (request, reply) = samples::of(*method);
        for (side, kind, value) in [
            ("params", Kind::Request, serde_json::to_value(request).unwrap()),
            ("result", Kind::Result, serde_json::to_value(reply).unwrap()),
        ] {
            for place in places(&value) {
                let forms = attachable(*method, kind, &value, &place);
                if !forms.is_empty() {
                    today.push(format!("{} {side} {place} {}", method.name(), forms.join(" ")));
                }
            }
        }
    }
    let today = format!("{}\n", today.join("\n"));
    let file = String::from_utf8(golden("attachable.txt", today.as_bytes())).unwrap();
    for line in file.lines() {
        assert!(today.lines().any(|now| now == line), "{line}: may not be attached any more");
    }
    for line in today.lines().filter(|line| file.lines().all(|before| before != *line)) {
        let [method, side, place, ..] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let old = String::from_utf8(golden(&format!("{method}.json"), b"")).unwrap();
        let (sent, answered) = old.trim_end().split_once('\n').unwrap();
        let (text, from) = if side == "params" { (sent, "/params") } else { (answered, "/result") };
        let old: Value = serde_json::from_str(text).unwrap();
        assert!(old.pointer(&format!("{from}{place}")).is_none(), "{line}: was in version 2, and not attached");
    }
}

#[test]
fn a_daemon_reads_a_frame_that_was_written_without_its_code_and_is_read_so() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.preface();
    let text = "line\n\"quoted\"\n".repeat(50_000);
    let body = r#"{"session":"s","tool":"terminal","id":"call_1","content":0,"profile":"default"}"#;
    let attachments = vec![(Form::Text, text.clone().into_bytes())];
    raw.send(&Envelope { attachments, ..Envelope::new(41, Kind::Request, "output.admit", body) }.frame());
    let answer = raw.read_envelope();
    let result: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!((answer.id, answer.kind, answer.method.as_str()), (41, Kind::Result, "output.admit"));
    assert_eq!((&result["spilled"], &result["chars"]), (&json!(true), &json!(text.len())));

    let body = json!({ "handle": result["handle"], "offset": 0, "limit": text.len() }).to_string();
    raw.send(&Envelope::new(42, Kind::Request, "output.read", &body).frame());
    let page = raw.read_envelope();
    let read: Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(read["text"], json!(0));
    assert_eq!(page.attachments, [(Form::Text, text.into_bytes())]);

    raw.send(&Envelope::new(43, Kind::Request, "output.reed", &body).frame());
    let error = raw.read_envelope();
    assert_eq!((error.id, error.kind, error.method.as_str()), (43, Kind::Error, ""));
    assert!(error.body.contains("unknown_method") && error.body.contains("output.read"), "{}", error.body);
}

#[test]
fn the_frames_in_the_docs_are_those_of_a_ping_and_its_answer() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.md")).unwrap();
    let is_frame = |line: &&str| line.len() > 8 && line.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
    let frames: Vec<Vec<u8>> = page.lines().filter(is_frame).map(from_hex).collect();
    let request = Request::Ping(PingParams {});
    let mut answer = Vec::new();
    binary::append_reply(7, &Ok(Reply::Ping(PingResult {})), &mut answer).unwrap();
    assert_eq!(frames, [binary::write_request(7, &Header::default(), &request).unwrap(), answer]);
}

fn from_hex(digits: &str) -> Vec<u8> {
    let digits = digits.replace(' ', "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Parses a result as today's client does, from a line and from a frame.
fn answers(method: Method, result: &Value) -> [Result<Reply, String>; 2] {
    let line = json!({ "jsonrpc": "2.0", "id": 7, "result": result }).to_string();
    let in_line = jsonrpc::read_reply(line.as_bytes(), method).map_err(|error| error.to_string());
    let frame = Envelope::new(7, Kind::Result, method.name(), &result.to_string());
    let in_frame = match binary::read_incoming(frame.payload()) {
        Ok(Incoming::Reply(Some(7), outcome)) => Ok(outcome.unwrap()),
        other => Err(format!("{other:?}")),
    };
    [in_line.map(|(_, outcome)| outcome.unwrap()), in_frame]
}

/// Adds a field at the start and one at the end of every object.
fn add_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_fields),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match field.as_object_mut() {
                    Some(map) if MAPS.contains(&name.as_str()) => map.values_mut().for_each(add_fields),
                    _ => add_fields(field),
                }
            }
            fields.shift_insert(0, "a_new_field".into(), json!({ "a": [1, { "b": null }] }));
            fields.insert("another_new_field".into(), json!("text"));
        }
        _ => {}
    }
}

/// Returns the JSON pointers to everything inside a value.
fn places(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, field)| (format!("/{name}"), field)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (format!("/{at}"), item)).collect(),
        _ => Vec::new(),
    };
    let below = |(place, value): (String, &Value)| {
        let deeper = places(value).into_iter().map(|rest| format!("{place}{rest}")).collect::<Vec<_>>();
        [vec![place], deeper].concat()
    };
    inner.into_iter().flat_map(below).collect()
}

/// Returns the kinds of attachments that a place accepts. A place accepts a kind if it reads the number of an
/// attachment and rejects the number of a missing one.
fn attachable(method: Method, kind: Kind, value: &Value, place: &str) -> Vec<&'static str> {
    let reads = |form, bytes: &[u8], number: u64| {
        let mut value = value.clone();
        *value.pointer_mut(place).unwrap() = json!(number);
        let attachments = vec![(form, bytes.to_vec())];
        let frame = Envelope { attachments, ..Envelope::new(7, kind, method.name(), &value.to_string()) };
        match kind {
            Kind::Request => binary::read_request(&frame.payload()).unwrap().request.is_ok(),
            _ => binary::read_incoming(frame.payload()).is_ok(),
        }
    };
    let forms = [("text", Form::Text, &b"text"[..]), ("list", Form::List, b"[]")];
    forms
        .into_iter()
        .filter(|(_, form, bytes)| reads(*form, bytes, 0) && !reads(*form, bytes, 1))
        .map(|form| form.0)
        .collect()
}
