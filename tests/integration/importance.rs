//! A result that many messages refer to stays word for word. If it leaves later, it is found whole.

use herma_client::Client;
use herma_protocol::Json;
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, PlanParams};
use herma_protocol::recall::SearchParams;
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

const WINDOW: u64 = 32_768;

fn parsed(value: &Value) -> Json {
    Json::parse(value.to_string()).unwrap()
}

/// A call with a long result.
fn exchange(at: usize, given: &Value, found: &str) -> [Json; 2] {
    let id = format!("call_{at}");
    let function = json!({ "name": "look", "arguments": given.to_string() });
    [
        parsed(
            &json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] }),
        ),
        parsed(&json!({ "role": "tool", "tool_call_id": id, "content": found })),
    ]
}

/// A session over the threshold. One of its first results names customers, and a later call uses the names.
fn session() -> Vec<Json> {
    let mut list = vec![parsed(&json!({ "role": "system", "content": "you help" }))];
    for at in 0..80 {
        list.push(parsed(&json!({ "role": "user", "content": format!("Number {at}, please.") })));
        let (given, found) = match at {
            5 => (json!({}), "customers dora_12, emil_34, frida_56, georg_78 and hilda_90 wait".to_owned()),
            6 => (json!({ "of": "dora_12 emil_34 frida_56 georg_78 hilda_90" }), "noted".to_owned()),
            _ => (json!({}), format!("{at}: {}", "some words about herons and how they fish. ".repeat(30))),
        };
        list.extend(exchange(at, &given, &found));
        list.push(parsed(&json!({ "role": "assistant", "content": format!("That was number {at}.") })));
    }
    list
}

fn compressed(client: &mut Client, list: &[Json]) -> Compressed {
    let params = CompressParams { session: "s".into(), messages: Some(list.to_vec()), ..CompressParams::default() };
    client.context_compress(params).unwrap().compressed().unwrap()
}

#[test]
fn what_later_calls_used_stays_word_for_word_and_is_archived_once_it_leaves() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let context_length = Some(WINDOW);
    client
        .context_configure(ConfigureParams { session: "s".into(), context_length, ..ConfigureParams::default() })
        .unwrap();
    let list = session();
    let of_result = list.iter().position(|message| message.get().contains("wait\"")).unwrap();
    let plan = PlanParams { session: Some("s".into()), messages: list.clone(), ..PlanParams::default() };
    let plan = client.context_plan(plan).unwrap();
    let scored = plan.scores.iter().find(|scored| scored.index == of_result as u64).unwrap();
    assert_eq!((scored.score, scored.reasons.as_slice()), (50, &["used".to_owned()][..]));

    let first = compressed(&mut client, &list);
    let Compressed { messages: Some(shorter), report, .. } = first else { panic!("a list") };
    let kept: Vec<u64> = report.verbatim.iter().map(|scored| scored.index).collect();
    assert_eq!(kept, [of_result as u64 - 1, of_result as u64], "{report:?}");
    assert!(report.tokens_after < WINDOW / 2, "{report:?}");
    // After the handoff come the call and its result, byte for byte.
    let place = shorter.iter().position(|message| message.get() == list[of_result].get()).unwrap();
    assert_eq!(shorter[place - 1].get(), list[of_result - 1].get());
    assert!(shorter[..place].iter().any(|message| message.get().contains("CONTEXT COMPACTION")));
    assert!(place < shorter.len() / 2);

    // Once newer messages refer to other results, it leaves too, and is found once.
    let mut grown = shorter;
    for at in 100..160 {
        grown.push(parsed(&json!({ "role": "user", "content": format!("Then number {at}.") })));
        let name = format!("ab_{at} cd_{at} ef_{at} gh_{at} ij_{at}");
        let found = format!("{name} {}", "and words about the river. ".repeat(40));
        grown.extend(exchange(at, &json!({}), &found));
        grown.extend(exchange(at + 500, &json!({ "of": name }), &"more of the river. ".repeat(20)));
        grown.push(parsed(&json!({ "role": "assistant", "content": "done" })));
    }
    let second = compressed(&mut client, &grown);
    let Compressed { messages: Some(shorter), report, .. } = second else { panic!("a list") };
    assert!(!report.verbatim.is_empty(), "{report:?}");
    assert!(!shorter.iter().any(|message| message.get().contains("frida_56 and")));
    let search = SearchParams { query: "\"georg_78 and hilda_90 wait\"".into(), ..SearchParams::default() };
    let hits = client.recall_search(search).unwrap().hits;
    assert_eq!(hits.len(), 1, "{hits:?}");
}
