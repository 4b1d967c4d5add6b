#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::attached::INLINE_LIMIT_BYTES;
use crate::context::{CompressParams, EstimateParams, PlanResult};
use crate::daemon::{PingParams, PingResult};
use crate::json_text::Json;
use crate::jsonrpc::{self, Item, Line, ReplyTo};
use crate::limits;
use crate::memory::{AddParams, Target};
use crate::notification::{Cause, MemoryChanged};
use crate::output::{AdmitParams, BudgetConfig, ReadResult, SettleTurnParams, TurnResult};
use crate::trajectory;
use crate::value::{Content, Size};

/// A payload written only from the documentation.
fn payload(id: u8, kind: u8, method: &str, attachments: &[(u8, &[u8])], body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![id, kind];
    put(method.as_bytes(), &mut bytes);
    for (form, attachment) in attachments {
        bytes.push(*form);
        put(attachment, &mut bytes);
    }
    bytes.push(0);
    put(body, &mut bytes);
    bytes
}

fn put(part: &[u8], bytes: &mut Vec<u8>) {
    match part.len() {
        length @ 0..=250 => bytes.push(u8::try_from(length).unwrap()),
        length @ 251..=0xffff => {
            bytes.push(251);
            bytes.extend(u16::try_from(length).unwrap().to_le_bytes());
        }
        length => {
            bytes.push(252);
            bytes.extend(u32::try_from(length).unwrap().to_le_bytes());
        }
    }
    bytes.extend(part);
}

const TEXT: u8 = 1;
const LIST: u8 = 2;

fn framed(payload: &[u8]) -> Vec<u8> {
    [&u32::try_from(payload.len()).unwrap().to_le_bytes(), payload].concat()
}

fn header() -> Header {
    Header { deadline_ms: Some(250), ..Header::default() }
}

fn add() -> Request {
    Request::MemoryAdd(AddParams {
        target: Target::User,
        content: "prefers metric units §".into(),
        session: None,
        agent: Some("a".into()),
        expected_revision: Some(300),
    })
}

fn admit(text: String) -> Request {
    Request::OutputAdmit(AdmitParams {
        session: "s".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        content: Content::Text(text),
        threshold: Some(Size::Infinite),
        config: Some(BudgetConfig { preview_size: Some(70_000), ..BudgetConfig::default() }),
    })
}

fn message(length: usize) -> Json {
    Json::parse(format!(r#"{{"role":"user", "content":"{}"}}"#, "é".repeat(length / 2))).unwrap()
}

/// A request with an attachment of each kind.
fn turn() -> Request {
    let result = |content| TurnResult { id: None, tool: Some("t".into()), content };
    Request::OutputSettleTurn(SettleTurnParams {
        session: "s".into(),
        results: Some(vec![
            result(Content::Text("a".repeat(INLINE_LIMIT_BYTES + 1))),
            result(Content::Parts(vec![message(INLINE_LIMIT_BYTES)])),
            result(Content::Text("short".into())),
            result(Content::Text("b\"\n".repeat(INLINE_LIMIT_BYTES))),
        ]),
        messages: Some(vec![message(10), message(3 * INLINE_LIMIT_BYTES)]),
        config: None,
    })
}

fn sent(payload: &[u8]) -> (u64, Result<(Header, Request), RpcError>) {
    let frame = read_request(payload).unwrap();
    (frame.id, frame.request)
}

#[test]
fn the_bytes_of_an_envelope_are_those_of_the_documentation() {
    let body = br#"{"deadline_ms":250,"target":"user","content":"prefers metric units \u00a7","session":null,"agent":"a","expected_revision":300}"#;
    let body = String::from_utf8(body.to_vec()).unwrap().replace("\\u00a7", "§");
    let expected = framed(&payload(7, 0, "memory.add", &[], body.as_bytes()));
    assert_eq!(write_request(7, &header(), &add()).unwrap(), expected);

    let mut out = b"before".to_vec();
    append_reply(8, &Ok(Reply::Ping(PingResult {})), &mut out).unwrap();
    append_reply(9, &Err(RpcError::new(ErrorKind::Busy, "later")), &mut out).unwrap();
    let error = br#"{"code":-32002,"message":"later","data":{"kind":"busy","retry":true,"fault":"herma"}}"#;
    let frames = [payload(8, 1, "ping", &[], b"{}"), payload(9, 2, "", &[], error)].map(|payload| framed(&payload));
    assert_eq!(out, [b"before", frames.concat().as_slice()].concat());

    let text = "a\"\n".repeat(INLINE_LIMIT_BYTES);
    let body = r#"{"session":"s","tool":"terminal","id":"call_1","content":0,"threshold":"inf","config":{"default_result_size":null,"turn_budget":null,"preview_size":70000,"preview_tail_size":null,"tool_overrides":null}}"#;
    let expected = framed(&payload(1, 0, "output.admit", &[(TEXT, text.as_bytes())], body.as_bytes()));
    assert_eq!(write_request(1, &Header::default(), &admit(text)).unwrap(), expected);
}

#[test]
fn requests_come_back() {
    for request in [add(), admit(String::new()), admit("é".repeat(70_000)), turn(), Request::Ping(PingParams {})] {
        for header in [Header::default(), header()] {
            let frame = write_request(700, &header, &request).unwrap();
            let expected = ClientFrame { id: 700, request: Ok((header, request.clone())) };
            assert_eq!(read_request(&frame[4..]).unwrap(), expected);
            assert_eq!(read_request_taking(&mut frame[4..].to_vec()).unwrap(), expected);
        }
    }
}

#[test]
fn answers_and_notifications_come_back() {
    let error = RpcError::new(ErrorKind::Conflict, "stale").with_details(&serde_json::json!({"revision": 4}));
    let messages = vec![message(5), message(2 * INLINE_LIMIT_BYTES)];
    let plan =
        PlanResult { messages, serialized: "s\n".repeat(INLINE_LIMIT_BYTES), prompt: None, ..PlanResult::default() };
    for outcome in [
        Ok(Reply::Ping(PingResult {})),
        Ok(Reply::OutputRead(ReadResult { text: "\"".repeat(INLINE_LIMIT_BYTES + 1), ..ReadResult::default() })),
        Ok(Reply::ContextPlan(plan)),
        Err(error),
    ] {
        let mut frame = Vec::new();
        append_reply(3, &outcome, &mut frame).unwrap();
        assert_eq!(read_incoming(frame.split_off(4)).unwrap(), Incoming::Reply(Some(3), outcome));
    }
    let (target, cause) = (Target::User, Cause::Write);
    let sent = MemoryChanged { profile: "p".into(), target, revision: 9, cause, session: None, agent: None };
    let sent = Notification::MemoryChanged(sent);
    let mut frame = Vec::new();
    append_notification(&sent, &mut frame).unwrap();
    assert_eq!(read_incoming(frame.split_off(4)).unwrap(), Incoming::Notification(Some(sent)));
}

#[test]
fn what_is_large_travels_as_it_is_and_what_is_not_in_the_json() {
    for (length, is_attached) in [(INLINE_LIMIT_BYTES, false), (INLINE_LIMIT_BYTES + 1, true)] {
        let text = "\"".repeat(length);
        let frame = write_request(1, &Header::default(), &admit(text.clone())).unwrap();
        assert_eq!(frame.windows(length).any(|window| window == text.as_bytes()), is_attached);
        let list = Json::parse(format!("\"{}\"", "x".repeat(length - 4))).unwrap();
        let params = CompressParams { messages: Some(vec![list]), ..CompressParams::default() };
        let frame = write_request(1, &Header::default(), &Request::ContextCompress(params)).unwrap();
        assert_eq!(frame.windows(12).any(|window| window == br#""messages":0"#), is_attached);
    }
}

#[test]
fn a_sender_need_not_attach_anything() {
    let line = jsonrpc::write_request(1, &Header::default(), &turn()).unwrap();
    let body = serde_json::from_slice::<serde_json::Value>(&line).unwrap()["params"].to_string();
    let (_, read) = sent(&payload(1, 0, "output.settle_turn", &[], body.as_bytes()));
    let Ok((_, Request::OutputSettleTurn(read))) = read else { panic!("{read:?}") };
    assert_eq!(read.results.unwrap().len(), 4);
}

#[test]
fn lists_of_lists_and_lists_of_texts_are_attached_one_by_one() {
    let request = Request::TrajectoryCompress(trajectory::CompressParams {
        conversations: vec![
            vec![message(2 * INLINE_LIMIT_BYTES)],
            vec![message(3)],
            vec![message(3 * INLINE_LIMIT_BYTES)],
        ],
        summaries: Some(vec!["s".repeat(INLINE_LIMIT_BYTES + 1), "t".into()]),
        ..trajectory::CompressParams::default()
    });
    let frame = write_request(1, &Header::default(), &request).unwrap();
    let text = String::from_utf8_lossy(&frame).into_owned();
    assert!(
        text.contains(r#""conversations":[0,[{"role""#) && text.contains(r#"],1],"#),
        "{}",
        &text[text.len() - 400..]
    );
    assert!(text.contains(r#""summaries":[2,"t"]"#), "{}", &text[text.len() - 400..]);
    assert_eq!(sent(&frame[4..]).1.unwrap().1, request);
}

#[test]
fn a_text_that_is_most_of_its_payload_is_not_copied() {
    for length in [20_000, 70_000, 1 << 20] {
        let request = admit("é".repeat(length));
        let mut payload = write_request(9, &Header::default(), &request).unwrap().split_off(4);
        let room = payload.as_ptr();
        let frame = read_request_taking(&mut payload).unwrap();
        assert!(payload.is_empty());
        let Ok((_, Request::OutputAdmit(AdmitParams { content: Content::Text(text), .. }))) = &frame.request else {
            panic!("{frame:?}")
        };
        assert_eq!(text.as_ptr(), room);
        assert_eq!(frame.request.unwrap().1, request);
    }
    // Of several texts, only the one that makes up most of the payload is moved; the others are copied.
    let texts = |lengths: [usize; 3]| {
        let turn =
            lengths.map(|length| TurnResult { id: None, tool: None, content: Content::Text("x".repeat(length)) });
        let params = SettleTurnParams { results: Some(turn.to_vec()), ..SettleTurnParams::default() };
        Request::OutputSettleTurn(params)
    };
    for (lengths, is_taken) in [
        ([5000, 90_000, 6000], true),
        ([50_000, 50_000, 50_000], false),
        ([90_000, 5000, 0], true),
        ([5000, 0, 0], false),
    ] {
        let request = texts(lengths);
        let mut payload = write_request(9, &Header::default(), &request).unwrap().split_off(4);
        assert_eq!(read_request_taking(&mut payload).unwrap().request.unwrap().1, request);
        assert_eq!(payload.is_empty(), is_taken, "{lengths:?}");
    }
}

#[test]
fn attachments_that_fit_nowhere_are_told() {
    let text = &[(TEXT, &b"text"[..])];
    let list = &[(LIST, &b"[{}]"[..])];
    let deep = format!("[{}{}]", "[".repeat(limits::DEPTH + 1), "]".repeat(limits::DEPTH + 1));
    let estimate = |attachments: &[(u8, &[u8])], body: &str, words: &str| {
        let payload = payload(5, 0, "context.estimate", attachments, body.as_bytes());
        for (id, read) in [sent(&payload), {
            let frame = read_request_taking(&mut payload.clone()).unwrap();
            (frame.id, frame.request)
        }] {
            let error = read.unwrap_err();
            assert_eq!((id, error.kind), (5, ErrorKind::InvalidParams), "{body}");
            assert!(
                error.message.contains(words) && error.message.starts_with("context.estimate: "),
                "{}",
                error.message
            );
        }
    };
    estimate(text, r#"{"text":1}"#, "param `text`: attachment 1 is named, but there are only 1");
    estimate(text, r#"{"text":18446744073709551615}"#, "attachment 18446744073709551615 is named");
    estimate(text, r#"{"text":-1}"#, "param `text`: invalid type: integer `-1`, expected a string");
    estimate(text, r#"{"text":0.0}"#, "param `text`: invalid type: floating point");
    estimate(text, r#"{"text":0,"system_prompt":0}"#, "param `system_prompt`: attachment 0 is named twice");
    estimate(text, r#"{"messages":0}"#, "param `messages`: invalid type: an attached text, expected a sequence");
    estimate(list, r#"{"text":0}"#, "param `text`: invalid type: an attached list, expected a string");
    estimate(text, "{}", "1 of the attachments belong to no param");
    estimate(&[(TEXT, b"\xff")], r#"{"text":0}"#, "not UTF-8");
    estimate(&[(TEXT, &[0xff; 50_000])], r#"{"text":0}"#, "not UTF-8");
    for bad in [&b"[1"[..], b"{}", b"[\xff]", b"[1] 2", b"", deep.as_bytes()] {
        estimate(&[(LIST, bad)], r#"{"messages":0}"#, "an attached list is wrong: ");
    }
    // Without attachments, an integer means what it means in JSON.
    estimate(&[], r#"{"text":0}"#, "param `text`: invalid type: integer `0`, expected a string");

    for (content, words) in [
        ("1", "attachment 1 is named"),
        ("00", "invalid number"),
        ("-1", "expected a string or a list"),
        ("1.5", "invalid number"),
    ] {
        let body = format!(r#"{{"session":"s","tool":"t","id":"i","content":{content}}}"#);
        let error = sent(&payload(5, 0, "output.admit", text, body.as_bytes())).1.unwrap_err();
        assert!(
            error.kind == ErrorKind::InvalidParams && error.message.contains("param `content`"),
            "{}",
            error.message
        );
        assert!(content == "00" || error.message.contains(words), "{}", error.message);
    }
}

#[test]
fn in_a_line_an_integer_names_nothing() {
    for (method, params, words) in [
        ("context.estimate", r#"{"text":0}"#, "param `text`: invalid type: integer `0`, expected a string"),
        ("context.estimate", r#"{"messages":0}"#, "param `messages`: invalid type: integer `0`, expected a sequence"),
        ("output.admit", r#"{"session":"s","tool":"t","id":"i","content":0}"#, "param `content`: invalid type"),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let Line::One(Item { reply_to, request: Err(error) }) = jsonrpc::read_line(line.as_bytes()) else {
            panic!("{line}")
        };
        assert_eq!((reply_to, error.kind), (ReplyTo::Id("1".into()), ErrorKind::InvalidParams));
        assert!(error.message.contains(words), "{}", error.message);
    }
}

#[test]
fn what_is_wrong_in_a_whole_envelope_is_told_in_the_words_of_the_other_codec() {
    let deep = format!(r#"{{"text":{}1{}}}"#, "[".repeat(limits::DEPTH), "]".repeat(limits::DEPTH));
    for (method, body, kind) in [
        ("memory.ad", "{}", ErrorKind::UnknownMethod),
        ("", "{}", ErrorKind::UnknownMethod),
        ("context.estimate", r#"{"txt":"a"}"#, ErrorKind::InvalidParams),
        ("context.estimate", r#"{"text":true}"#, ErrorKind::InvalidParams),
        ("memory.add", r#"{"target":"user"}"#, ErrorKind::InvalidParams),
        ("memory.add", "[]", ErrorKind::InvalidParams),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{body}}}"#);
        let Line::One(item) = jsonrpc::read_line(line.as_bytes()) else { panic!("{line}") };
        let (id, read) = sent(&payload(5, 0, method, &[], body.as_bytes()));
        assert_eq!((id, &read), (5, &item.request));
        assert_eq!(read.unwrap_err().kind, kind, "{body}");
    }
    for (body, kind) in [
        (deep.as_str(), ErrorKind::ParseError),
        ("{", ErrorKind::InvalidParams),
        ("{} {}", ErrorKind::InvalidParams),
        ("", ErrorKind::InvalidParams),
    ] {
        let (id, read) = sent(&payload(5, 0, "context.estimate", &[], body.as_bytes()));
        assert_eq!((id, read.unwrap_err().kind), (5, kind), "{body}");
    }
}

#[test]
fn every_cut_and_every_flip_is_an_error_or_another_value() {
    let mut answer = Vec::new();
    let page = ReadResult { text: "\"".repeat(INLINE_LIMIT_BYTES + 1), ..ReadResult::default() };
    append_reply(3, &Ok(Reply::OutputRead(page)), &mut answer).unwrap();
    for frame in [write_request(7, &header(), &add()).unwrap(), write_request(7, &header(), &turn()).unwrap(), answer] {
        let payload = &frame[4..];
        for end in 0..payload.len() {
            assert!(read_request(&payload[..end]).is_err(), "{end}");
            assert!(read_incoming(payload[..end].to_vec()).is_err(), "{end}");
        }
        for at in (0..payload.len()).filter(|at| *at < 300 || *at % 97 == 0 || at + 300 > payload.len()) {
            for bits in [0xff, 1, 0x80] {
                let mut forged = payload.to_vec();
                forged[at] ^= bits;
                let read = read_request(&forged);
                drop(read_incoming(forged.clone()));
                assert_eq!(read_request_taking(&mut forged), read, "{at}");
            }
        }
    }
}

#[test]
fn a_forged_length_allocates_nothing() {
    let lengths = [
        &[253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..],
        &[252, 0xff, 0xff, 0xff, 0x3f],
        &[251, 0xff, 0xff],
        &[250],
    ];
    for length in lengths {
        let method = [&[1, 0], length, b"ping"].concat();
        let attachment = [&[1, 0, 4], &b"ping"[..], &[1], length, b"text"].concat();
        let body = [&[1, 0, 4], &b"ping"[..], &[0], length, b"{}"].concat();
        for payload in [method, attachment, body] {
            let error = read_request(&payload).unwrap_err().to_string();
            assert!(error.contains("cut short") || error.contains("more than it can hold"), "{error}");
            assert_eq!(read_incoming(payload).unwrap_err().to_string(), error);
        }
    }
}

#[test]
fn what_is_no_envelope_is_told() {
    for (payload, words) in [
        (vec![], "cut short"),
        (payload(1, 4, "ping", &[], b"{}"), "unknown variant"),
        (payload(1, 1, "ping", &[], b"{}"), "it is no request"),
        (payload(1, 0, "ping", &[(3, b"")], b"{}"), "unknown variant"),
        (payload(1, 0, "ping", &[], b"\xff"), "its body is not UTF-8"),
        ([payload(1, 0, "ping", &[], b"{}"), vec![0]].concat(), "1 bytes are left over"),
        ([&[1, 0, 1, 0xff, 0, 2], &b"{}"[..]].concat(), "not UTF-8"),
    ] {
        let error = read_request(&payload).unwrap_err().to_string();
        assert!(error.contains(words), "{payload:?}: {error}");
    }
    for (payload, words) in [
        (payload(1, 0, "ping", &[], b"{}"), "it is a request"),
        (payload(1, 1, "pong", &[], b"{}"), "a method that is not known"),
        (payload(1, 1, "output.read", &[], b"{}"), "output.read: missing field `text`"),
        (
            payload(1, 1, "output.read", &[(TEXT, b"t")], br#"{"text":1,"next":null,"total_lines":1,"total_chars":1}"#),
            "attachment 1 is named",
        ),
    ] {
        let error = read_incoming(payload.clone()).unwrap_err().to_string();
        assert!(error.contains(words), "{payload:?}: {error}");
    }
}

#[test]
fn what_a_newer_daemon_adds_is_passed_over() {
    let body = br#"{"text":1,"new":0,"next":null,"total_lines":1,"newer":[{"a":2}],"total_chars":1}"#;
    let payload = payload(1, 1, "output.read", &[(TEXT, b"added"), (TEXT, b"text"), (LIST, b"[1]")], body);
    let page = ReadResult { text: "text".into(), next: None, total_lines: 1, total_chars: 1 };
    assert_eq!(read_incoming(payload).unwrap(), Incoming::Reply(Some(1), Ok(Reply::OutputRead(page))));
    assert_eq!(read_incoming(self::payload(0, 3, "new.topic", &[], b"{}")).unwrap(), Incoming::Notification(None));
}

#[test]
fn more_texts_than_may_be_attached_stay_in_the_json() {
    let count = limits::ATTACHMENTS + 2;
    let request = Request::TrajectoryCompress(trajectory::CompressParams {
        summaries: Some((0..count).map(|number| format!("{number:0width$}", width = INLINE_LIMIT_BYTES + 1)).collect()),
        ..trajectory::CompressParams::default()
    });
    let frame = write_request(1, &Header::default(), &request).unwrap();
    assert_eq!(sent(&frame[4..]).1.unwrap().1, request);

    let most = vec![(TEXT, &b""[..]); limits::ATTACHMENTS];
    assert!(read_request(&payload(1, 0, "ping", &most, b"{}")).is_ok());
    let more = vec![(TEXT, &b""[..]); limits::ATTACHMENTS + 1];
    let error = read_request(&payload(1, 0, "ping", &more, b"{}")).unwrap_err().to_string();
    assert!(error.contains("more than 4096 attachments"), "{error}");
}

#[test]
fn a_frame_that_cannot_be_written_leaves_no_bytes() {
    let mut out = b"before".to_vec();
    let number = |number: f64| {
        Reply::ContextCheck(crate::context::check::CheckResult {
            compress: false,
            reason: crate::context::check::CheckReason::Disabled,
            defer: false,
            tokens: 0,
            threshold: 0,
            pressure: number,
            wait_s: 0.0,
        })
    };
    append_reply(1, &Ok(number(0.5)), &mut out).unwrap();
    let whole = out.clone();
    let bad = append(&Head { id: 1, kind: Kind::Result, method: "x" }, &mut out, |body| {
        body.extend(b"half");
        Err(serde::ser::Error::custom("no"))
    });
    assert!(bad.is_err() && out == whole);
}

#[test]
fn a_text_is_attached_in_its_own_frame_only() {
    let estimate = Request::ContextEstimate(EstimateParams {
        text: Some("x".repeat(INLINE_LIMIT_BYTES + 1)),
        ..EstimateParams::default()
    });
    let frame = write_request(1, &Header::default(), &estimate).unwrap();
    let panicked = std::panic::catch_unwind(|| {
        let mut frame = Vec::new();
        attached::writing(&mut frame, || panic!("boom"))
    });
    assert!(panicked.is_err());
    let line = jsonrpc::write_request(1, &Header::default(), &estimate).unwrap();
    assert!(line.windows(10).any(|window| window == br#""text":"xx"#));
    assert_eq!(write_request(1, &Header::default(), &estimate).unwrap(), frame);
}
