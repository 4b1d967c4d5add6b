//! Pinned messages, discarded outputs, ranges and detail of compressions, against a real daemon that is killed.

use herma_client::{Client, ClientError};
use herma_protocol::context::discard::DiscardParams;
use herma_protocol::context::pins::{Pin, PinParams, PinsParams, UnpinParams};
use herma_protocol::context::undo::UndoParams;
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, Detail, Mode, PlanParams};
use herma_protocol::recall::{ExpandParams, SearchParams};
use herma_protocol::session::transcript::{AppendParams, RemoveParams};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use crate::compression::conversation;

const WINDOW: u64 = 60_000;

fn configured(daemon: &Daemon, session: &str, engine: &str) -> Client {
    let mut client = daemon.client();
    let params = ConfigureParams {
        session: session.into(),
        context_length: Some(WINDOW),
        engine: Some(engine.into()),
        ..ConfigureParams::default()
    };
    client.context_configure(params).unwrap();
    client
}

fn pin(client: &mut Client, session: &str, message: &Json) -> Pin {
    let params = PinParams { session: session.into(), message: Some(message.clone()), ..PinParams::default() };
    client.context_pin(params).unwrap()
}

fn compress(client: &mut Client, params: CompressParams) -> Compressed {
    client.context_compress(params).unwrap().compressed().unwrap()
}

fn value(message: &Json) -> Value {
    serde_json::from_str(message.get()).unwrap()
}

/// A call from the middle and its result of one line.
fn exchange() -> [Json; 2] {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "plan-1", "type": "function",
        "function": {"name": "read_file", "arguments": "{\"path\": \"PLAN.md\"}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "plan-1", "content": format!("The plan: {}", "one step and another. ".repeat(40))});
    [call, result].map(|message| Json::from_value(&message).unwrap())
}

/// A conversation with the exchange in its middle.
fn with_plan(length: usize) -> Vec<Json> {
    let mut all = conversation(length);
    let at = (length / 4..length).find(|at| value(&all[*at])["role"] == "user").unwrap();
    let [call, result] = exchange();
    all.insert(at, result);
    all.insert(at, call);
    all
}

#[test]
fn a_pinned_message_stays_byte_for_byte_through_compressions_kills_and_engines() {
    for appends in [true, false] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let all = with_plan(1_498);
        let [call, result] = exchange();
        let mut list: Vec<Json> = Vec::new();
        let mut generation = 0;
        for (round, part) in all.chunks(300).enumerate() {
            let is_last = round == 4;
            let mut client = configured(&daemon, "s", if round % 2 == 0 { "compressor" } else { "lossless" });
            if appends {
                let position = list.len() as u64;
                let messages = part.to_vec();
                client.session_append(AppendParams { session: "s".into(), generation, position, messages }).unwrap();
            }
            list.extend_from_slice(part);
            if let Some(at) = part.iter().position(|message| *message == result) {
                let at = (list.len() - part.len() + at) as u64;
                let pinned = if appends {
                    client
                        .context_pin(PinParams { session: "s".into(), position: Some(at), ..PinParams::default() })
                        .unwrap()
                } else {
                    pin(&mut client, "s", &result)
                };
                assert!(pinned.text.starts_with("The plan: ") && pinned.role == "tool", "{pinned:?}");
                assert!(pinned.tokens > 100);
            }
            if is_last {
                let pins = client.context_pins(PinsParams { session: "s".into() }).unwrap();
                assert_eq!(pins.pins.len(), 1);
                assert!(pins.most_tokens.is_some_and(|most| most > 1_000));
                client.context_unpin(UnpinParams { session: "s".into(), id: pins.pins[0].id.clone() }).unwrap();
            }
            daemon.kill();
            daemon = Daemon::start(&home);
            let mut client = daemon.client();
            let messages = (!appends).then(|| list.clone());
            let done = compress(
                &mut client,
                CompressParams { session: "s".into(), messages, force: Some(true), ..CompressParams::default() },
            );
            list = done.messages.unwrap();
            generation = done.report.generation;
            if is_last {
                assert!(!list.contains(&result));
                let handle = done.report.archived.unwrap().handle;
                let params =
                    ExpandParams { handle, after: Some(100), tokens: Some(100_000), ..ExpandParams::default() };
                let items = client.recall_expand(params).unwrap().items;
                let found: String = items.iter().map(|item| item.text.as_str()).collect();
                assert!(found.contains("The plan: "), "what was let go is kept");
            } else if round > 0 {
                let there = [&call, &result].map(|one| list.iter().filter(|message| *message == one).count());
                assert_eq!(there, [1, 1], "round {round}, appends {appends}");
                assert_eq!(done.report.pinned, 2, "round {round}");
            }
        }
        let mut client = daemon.client();
        client.session_remove(RemoveParams { session: "s".into() }).unwrap();
    }
}

#[test]
fn pins_go_on_with_their_session_and_a_preview_knows_them() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, "s", "compressor");
    let (all, [_, result]) = (with_plan(600), exchange());
    pin(&mut client, "s", &result);
    let looked = client
        .context_plan(PlanParams {
            messages: all.clone(),
            session: Some("s".into()),
            preview: Some(true),
            ..PlanParams::default()
        })
        .unwrap();
    let at = all.iter().position(|message| *message == result).unwrap() as u64;
    let keep = looked.preview.unwrap().edits.keep;
    assert!(keep.iter().any(|(from, to)| (*from..*to).contains(&at)), "{at} in {keep:?}");
    let params = CompressParams {
        session: "s".into(),
        messages: Some(all),
        force: Some(true),
        mode: Some(Mode::Continue),
        ..CompressParams::default()
    };
    let done = compress(&mut client, params);
    assert!(done.messages.unwrap().contains(&result));
    assert_ne!(done.report.session, "s");
    let pins = client.context_pins(PinsParams { session: done.report.session }).unwrap();
    assert_eq!(pins.pins.len(), 1);
}

#[test]
fn what_can_not_be_pinned_is_refused_with_the_reason() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, "s", "compressor");
    let large = Json::from_value(&json!({"role": "user", "content": "a long text ".repeat(8_000)})).unwrap();
    let of = |params: PinParams| PinParams { session: "s".into(), ..params };
    for (params, kind, words) in [
        (PinParams { position: Some(0), ..PinParams::default() }, ErrorKind::InvalidParams, "nothing was appended"),
        (PinParams::default(), ErrorKind::InvalidParams, "one of them only"),
        (PinParams { handle: Some("out_1".into()), ..PinParams::default() }, ErrorKind::NotFound, "out_1"),
        (
            PinParams { message: Some(Json::parse("7".into()).unwrap()), ..PinParams::default() },
            ErrorKind::InvalidParams,
            "it is a number, not an object",
        ),
        (PinParams { message: Some(large), ..PinParams::default() }, ErrorKind::TooLarge, "20 %"),
        (
            PinParams { message: Some(exchange()[1].clone()), until: Some(1.0), ..PinParams::default() },
            ErrorKind::InvalidParams,
            "time to come",
        ),
    ] {
        let Err(ClientError::Rpc(error)) = client.context_pin(of(params.clone())) else { panic!("{params:?}") };
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
    let Err(ClientError::Rpc(error)) = client.context_unpin(UnpinParams { session: "s".into(), id: "pin_x".into() })
    else {
        panic!("no such pin")
    };
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(client.context_pins(PinsParams { session: "s".into() }).unwrap().pins.is_empty());
}

#[test]
fn only_a_range_leaves_and_the_handoff_tells_more_or_less() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, "s", "compressor");
    let all = conversation(900);
    let params = |detail, range| CompressParams {
        session: "s".into(),
        messages: Some(all.clone()),
        force: Some(true),
        detail,
        range,
        ..CompressParams::default()
    };
    let mut sizes = Vec::new();
    for (session, detail) in [("low", Some(Detail::Low)), ("medium", None), ("high", Some(Detail::High))] {
        let mut client = configured(&daemon, session, "compressor");
        let done = compress(&mut client, CompressParams { session: session.into(), ..params(detail, None) });
        let list = done.messages.unwrap();
        sizes.push(list.iter().find(|message| message.get().contains(herma_protocol_prefix())).unwrap().get().len());
    }
    assert!(sizes[0] * 4 < sizes[1] * 3 && sizes[1] < sizes[2], "{sizes:?}");
    let done = compress(&mut client, params(None, Some((100, 300))));
    let list = done.messages.unwrap();
    assert!(list[1..90] == all[1..90], "the messages before the range");
    assert!(list[list.len() - 590..] == all[all.len() - 590..], "the messages behind the range");
    assert!((95..=200).contains(&done.report.dropped), "{}", done.report.dropped);
    // The first compression changes the system message. The second changes nothing before the handoff.
    assert_eq!(done.report.invalidated_tokens, done.report.tokens_before);
    let position = |at: usize| at as u64;
    let again = Some((position(list.len() - 400), position(list.len() - 100)));
    let done = compress(&mut client, CompressParams { messages: Some(list.clone()), ..params(None, again) });
    let kept = done.report.tokens_before - done.report.invalidated_tokens;
    assert!(kept > 0 && kept < done.report.tokens_after, "{kept} of {}", done.report.tokens_before);
    assert!(done.report.pays_after_calls.is_some_and(|calls| calls > 1), "{:?}", done.report.pays_after_calls);
    let Err(ClientError::Rpc(error)) = client.context_compress(params(None, Some((30, 30)))) else { panic!("empty") };
    assert_eq!(error.kind, ErrorKind::InvalidParams);
}

#[test]
fn a_discarded_output_becomes_a_line_at_the_next_compression_and_comes_back_with_an_undo() {
    for appends in [true, false] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut client = configured(&daemon, "s", "compressor");
        let mut list = conversation(600);
        let long = json!({"role": "tool", "tool_call_id": "plan-1", "content": "a long log\n".repeat(400)});
        let long = Json::from_value(&long).unwrap();
        // Near the end, where a message normally stays whole.
        let at = (list.len() - 6..list.len()).find(|at| value(&list[*at])["role"] == "user").unwrap();
        list.splice(at..at, [exchange()[0].clone(), long.clone()]);
        let mut params =
            DiscardParams { session: "s".into(), reason: Some("it is read".into()), ..DiscardParams::default() };
        if appends {
            let messages = list.clone();
            let params = AppendParams { session: "s".into(), generation: 0, position: 0, messages };
            client.session_append(params).unwrap();
        }
        if appends {
            params.positions = Some(vec![at as u64])
        } else {
            params.messages = Some(vec![long.clone()])
        }
        let told = client.context_discard(params).unwrap();
        assert!(told.outputs == 1 && told.tokens > 500, "{told:?}");
        daemon.kill();
        let daemon = Daemon::start(&home);
        let mut client = daemon.client();
        let messages = (!appends).then(|| list.clone());
        let done = compress(&mut client, CompressParams { session: "s".into(), messages, ..CompressParams::default() });
        assert_eq!(done.report.discarded, 1);
        let new = done.messages.unwrap();
        let line = new.iter().map(value).find(|message| message["tool_call_id"] == "plan-1").unwrap();
        let line = line["content"].as_str().unwrap();
        assert!(line.starts_with("[read_file] read PLAN.md") && line.ends_with("[discarded: it is read]"), "{line}");
        let handle = done.report.archived.unwrap().handle;
        let params = SearchParams { query: "a long log".into(), ..SearchParams::default() };
        let hits = client.recall_search(params).unwrap().hits;
        assert!(!hits.is_empty(), "the whole is in the archive under {handle}");
        let messages = (!appends).then(|| new.clone());
        let undone =
            client.context_undo(UndoParams { session: "s".into(), messages, ..UndoParams::default() }).unwrap();
        assert!(undone.messages == list, "it comes back byte for byte");
    }
}

/// The beginning of every handoff.
const fn herma_protocol_prefix() -> &'static str {
    "[CONTEXT COMPACTION"
}
