//! A transcript that grows in the daemon. It is appended to, compressed without being sent again, and returned byte for
//! byte.

use herma_client::{Client, ClientError, Codec};
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, ReplyForm};
use herma_protocol::recall::{DescribeParams, ExpandParams};
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::{ErrorKind, Json, RpcError};
use herma_tests::{Daemon, Home};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Real conversations, one per line.
const FIXTURES: &str = include_str!("../../daemon/context/tests/fixtures/airline.jsonl");

/// Unusual white space, key order, escapes and numbers, which must survive.
const ODD: &str =
    r#"{ "z":1.0,"a" : 1 , "e":1e2,"big":123456789012345678901,"\u00e9":"\/\ud83d\ude00\t","dup":1,"dup":2,"#;

/// Returns `count` messages of real conversations in order. Every third one is unusual.
fn conversation(count: usize) -> Vec<Json> {
    #[derive(serde::Deserialize)]
    struct Line {
        messages: Vec<Box<RawValue>>,
    }
    let lines: Vec<Line> = FIXTURES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut all = lines.iter().flat_map(|line| &line.messages).map(|message| message.get());
    let system = all.next().unwrap();
    let turns: Vec<&str> = all.filter(|text| !text.contains("\"role\":\"system\"")).collect();
    let odd = |(at, text): (usize, &str)| match at % 3 {
        0 => format!("{ODD}\"at\":{at},{}", &text[1..]),
        _ => text.to_owned(),
    };
    let list = std::iter::once(system).chain(turns.into_iter().cycle()).take(count);
    list.enumerate().map(odd).map(|text| Json::parse(text).unwrap()).collect()
}

fn append(client: &mut Client, at: (u64, u64), messages: &[Json]) -> Result<u64, RpcError> {
    append_to(client, "s", at, messages)
}

fn append_to(
    client: &mut Client,
    session: &str,
    (generation, position): (u64, u64),
    messages: &[Json],
) -> Result<u64, RpcError> {
    let params = AppendParams { session: session.into(), generation, position, messages: messages.to_vec() };
    match client.session_append(params) {
        Ok(result) => Ok(result.position),
        Err(ClientError::Rpc(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the generation and the position at which a refused append may continue.
fn told(refused: Result<u64, RpcError>) -> (u64, u64) {
    let error = refused.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict, "{error:?}");
    let data: Value = serde_json::from_str(error.details.unwrap().get()).unwrap();
    let find = |name: &str| data[name].as_u64().unwrap_or_else(|| panic!("{name}: {data}"));
    (find("generation"), find("position"))
}

fn configure(client: &mut Client, session: &str) {
    let params =
        ConfigureParams { session: session.into(), context_length: Some(16_000), ..ConfigureParams::default() };
    client.context_configure(params).unwrap();
}

fn compress(client: &mut Client, session: &str, messages: Option<&[Json]>, reply: ReplyForm) -> Compressed {
    let params = CompressParams {
        session: session.into(),
        messages: messages.map(<[Json]>::to_vec),
        reply: Some(reply),
        today: Some(serde_json::from_value(json!(false)).unwrap()),
        ..CompressParams::default()
    };
    let result = client.context_compress(params).unwrap().compressed().unwrap();
    assert!(result.report.compressed, "{:?}", result.report.reason);
    result
}

/// Returns all messages of a handle, page by page.
fn expand_all(client: &mut Client, handle: &str, after: Option<u64>) -> Vec<String> {
    let mut messages = Vec::new();
    let mut next = Some(handle.to_owned());
    while let Some(handle) = next {
        let page = client.recall_expand(ExpandParams { handle, after, ..ExpandParams::default() }).unwrap();
        assert!(!page.items.is_empty() && page.recalled);
        messages.extend(page.items.into_iter().map(|item| item.message.unwrap().get().to_owned()));
        next = page.next;
    }
    messages
}

fn texts(messages: &[Json]) -> Vec<&str> {
    messages.iter().map(Json::get).collect()
}

#[test]
fn what_is_kept_already_is_passed_over_and_a_gap_is_refused() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (session, codec) in [("json", Codec::Json), ("binary", Codec::Bincode)] {
        let mut client = daemon.client_with(codec);
        let list = conversation(12);
        let mut append = |at: (u64, u64), messages: &[Json]| append_to(&mut client, session, at, messages);
        assert_eq!(append((0, 0), &[]), Ok(0));
        assert_eq!(append((0, 0), &list[..4]), Ok(4));
        assert_eq!(append((0, 0), &list[..4]), Ok(4), "the same again");
        assert_eq!(append((0, 0), &list[..6]), Ok(6), "the whole list, which has grown");
        assert_eq!(append((0, 3), &list[3..8]), Ok(8), "an overlap");
        assert_eq!(append((0, 2), &list[2..4]), Ok(8), "what lies behind");
        assert_eq!(append((0, 8), &[]), Ok(8));
        assert_eq!(told(append((0, 9), &list[9..])), (0, 8), "a gap");
        assert_eq!(told(append((1, 8), &list[8..])), (0, 8), "a generation to come");
        assert_eq!(told(append((0, 3), &list[4..5])), (0, 8), "another message in the place of one that is kept");
        let row = daemon.raw().result("session.show", &json!({ "session": session }));
        assert_eq!(row["messages"], 8);
        assert_eq!(append((0, 8), &list[8..]), Ok(12));
    }
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(append_to(&mut daemon.client(), "json", (0, 0), &conversation(12)), Ok(12));
}

#[test]
fn a_message_comes_back_as_the_bytes_that_were_sent() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(Codec::Json);
    let odd: Vec<Json> = [
        "{\"content\":\"zeppelin\",\"role\":\"user\"}",
        "{ \"role\" : \"user\" , \"content\" : \"zeppelin \\u00e9\\/\\ud83d\\ude00\" }",
        "{\"role\":\"assistant\",\"content\":\"zeppelin\",\"n\":[1,1.0,1e0,-0,-0.0,1e400,0.10,123456789012345678901]}",
        "{\"role\":\"user\",\"role\":\"user\",\"content\":\"zeppelin\"}",
        "{\"role\":\"user\",\"content\":[{\"text\":\"zeppelin\",\"type\":\"text\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,\"}}]}",
        "{\"role\":\"tool\",\"tool_call_id\":\"\\u0000\",\"content\":\"zeppelin 日本 🪨\"}",
    ]
    .map(|text| Json::parse(text.to_owned()).unwrap())
    .to_vec();
    append(&mut client, (0, 0), &odd).unwrap();
    let found =
        daemon.raw().result("recall.search", &json!({ "query": "zeppelin", "kinds": ["message"], "around": 0 }));
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), odd.len());
    let mut back: Vec<String> = hits
        .iter()
        .map(|hit| {
            let handle = hit["handle"].as_str().unwrap().to_owned();
            let found = client
                .recall_expand(ExpandParams { handle, before: Some(0), after: Some(0), ..ExpandParams::default() })
                .unwrap();
            assert_eq!(found.items.len(), 1);
            found.items[0].message.as_ref().unwrap().get().to_owned()
        })
        .collect();
    let mut expected: Vec<String> = texts(&odd).into_iter().map(str::to_owned).collect();
    back.sort();
    expected.sort();
    assert_eq!(back, expected);
}

#[test]
fn a_transcript_that_was_appended_need_not_be_sent_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(Codec::Json);
    let list = conversation(150);
    for session in ["kept", "sent"] {
        configure(&mut client, session);
    }
    append_to(&mut client, "kept", (0, 0), &list[..100]).unwrap();
    append_to(&mut client, "kept", (0, 100), &list[100..]).unwrap();
    let kept = compress(&mut client, "kept", None, ReplyForm::Messages);
    let sent = compress(&mut client, "sent", Some(&list), ReplyForm::Messages);
    let handles = [&kept, &sent].map(|result| result.report.archived.as_ref().unwrap().handle.clone());
    let normal = |result: &Compressed, handle: &str| -> Vec<String> {
        let list = result.messages.as_ref().unwrap();
        list.iter().map(|message| message.get().replace(handle, "HANDLE")).collect()
    };
    assert_eq!(normal(&kept, &handles[0]), normal(&sent, &handles[1]));
    let numbers = |result: &Compressed| {
        let mut report = serde_json::to_value(&result.report).unwrap();
        for name in ["session", "archived", "elapsed_ms"] {
            report.as_object_mut().unwrap().remove(name);
        }
        report
    };
    assert_eq!(numbers(&kept), numbers(&sent));

    // Without appended messages there is nothing to compress.
    configure(&mut client, "empty");
    let params = CompressParams { session: "empty".into(), ..CompressParams::default() };
    let Err(ClientError::Rpc(error)) = client.context_compress(params) else { panic!("it compressed nothing") };
    assert_eq!(error.kind, ErrorKind::InvalidParams);
}

#[test]
fn the_transcript_goes_on_at_the_new_generation_and_nothing_is_lost() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(Codec::Json);
    configure(&mut client, "s");
    let everything = conversation(400);
    let mut list = everything[..150].to_vec();
    append(&mut client, (0, 0), &list).unwrap();
    let mut handles = Vec::new();
    for (generation, more) in [(1, 150..270), (2, 270..400)] {
        let done = compress(&mut client, "s", None, ReplyForm::Messages);
        let report = &done.report;
        let new = done.messages.unwrap();
        assert_eq!(report.generation, generation);
        assert_eq!((report.messages_before, report.messages_after), (list.len() as u64, new.len() as u64));
        let archived = report.archived.as_ref().unwrap();

        // Messages that are not in the new list are under the handle, in order and byte for byte.
        let gone: Vec<String> = expand_all(&mut client, &archived.handle, None);
        assert_eq!(gone.len() as u64, archived.messages);
        let stays: Vec<&str> = texts(&new);
        let missing: Vec<&str> = texts(&list).into_iter().filter(|text| !stays.contains(text)).collect();
        let mut walked = gone.iter();
        for text in missing {
            assert!(walked.any(|one| one == text), "{text}");
        }
        assert!(gone.iter().all(|text| texts(&list).contains(&text.as_str())), "only what was in the list");
        for after in [0, 1, 7, 100] {
            assert_eq!(expand_all(&mut client, &archived.handle, Some(after)), gone, "{after}");
        }
        handles.push((archived.handle.clone(), archived.messages));

        // The old generation is refused, the new one is accepted.
        let length = new.len() as u64;
        assert_eq!(
            told(append(&mut client, (generation - 1, list.len() as u64), &everything[..1])),
            (generation, length)
        );
        assert_eq!(told(append(&mut client, (generation, length + 1), &everything[..1])), (generation, length));
        assert_eq!(append(&mut client, (generation, 0), &new), Ok(length), "the list that was answered is kept");
        list = new;
        list.extend_from_slice(&everything[more]);
        assert_eq!(append(&mut client, (generation, 0), &list), Ok(list.len() as u64));
    }
    let described = client.recall_describe(DescribeParams { session: "s".into() }).unwrap().compressions;
    let told: Vec<(u64, String, u64)> =
        described.iter().map(|one| (one.generation, one.handle.clone(), one.messages)).collect();
    let expected: Vec<(u64, String, u64)> =
        handles.iter().zip(1..).map(|((handle, count), generation)| (generation, handle.clone(), *count)).collect();
    assert_eq!(told, expected);
    for one in &described {
        assert!(one.chars > 0 && one.time > 1.7e9 && !one.summary.trim().is_empty(), "{one:?}");
    }
    assert!(described[0].time <= described[1].time);

    // The same after a kill of the daemon, with another client.
    let gone = expand_all(&mut client, &handles[0].0, None);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(Codec::Json);
    assert_eq!(expand_all(&mut client, &handles[0].0, None), gone);
    assert_eq!(append(&mut client, (2, 0), &list), Ok(list.len() as u64));
    // Every message counts once, even if it left the list.
    let row = daemon.raw().result("session.show", &json!({ "session": "s" }));
    assert!(row["messages"].as_u64().unwrap() >= 400, "{row}");
    assert_eq!(row["generation"], 2);
}

#[test]
fn edits_lead_to_the_same_list() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(Codec::Json);
    let list = conversation(150);
    configure(&mut client, "s");
    append(&mut client, (0, 0), &list).unwrap();
    let edits = compress(&mut client, "s", None, ReplyForm::Edits).edits.unwrap();
    let mut new = Vec::new();
    let mut inserts = edits.insert.iter().peekable();
    for (at, message) in (0..).zip(list.iter().map(Some).chain([None])) {
        while let Some(insert) = inserts.next_if(|insert| insert.at == at) {
            new.push(insert.message.clone());
        }
        if let Some(message) = message.filter(|_| edits.keep.iter().any(|(from, to)| (*from..*to).contains(&at))) {
            let replaced = edits.replace.iter().find(|one| one.index == at);
            new.push(replaced.map_or_else(|| message.clone(), |one| one.message.clone()));
        }
    }
    assert_eq!(append(&mut client, (1, 0), &new), Ok(new.len() as u64), "the daemon has the same list");
    let mut other = new.clone();
    other.push(list[3].clone());
    assert_eq!(append(&mut client, (1, 0), &other), Ok(other.len() as u64));
}
