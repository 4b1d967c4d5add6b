//! Tests for common complaints about engines of this kind, run with both engines against a real daemon.

use herma_client::Client;
use herma_protocol::context::check::CheckParams;
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams};
use herma_protocol::recall::{DescribeParams, ExpandParams};
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::{Json, recall};
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

const ENGINES: [&str; 2] = ["compressor", "lossless"];
const WINDOW: u64 = 60_000;

fn configure(client: &mut Client, engine: &str) {
    let params = ConfigureParams {
        session: "s".into(),
        context_length: Some(WINDOW),
        engine: Some(engine.into()),
        ..ConfigureParams::default()
    };
    client.context_configure(params).unwrap();
}

fn compress(client: &mut Client, list: &[Json], force: bool) -> Compressed {
    let params = CompressParams {
        session: "s".into(),
        messages: Some(list.to_vec()),
        force: force.then_some(true),
        ..CompressParams::default()
    };
    client.context_compress(params).unwrap().compressed().unwrap()
}

fn say(role: &str, content: &str) -> Json {
    Json::from_value(&json!({"role": role, "content": content})).unwrap()
}

/// Returns this many turns of a talk, each of about this many words.
fn talk(turns: usize, words: usize) -> Vec<Json> {
    let said = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        say(role, &format!("turn {at}: {}", "some words of ordinary length ".repeat(words / 5)))
    };
    std::iter::once(say("system", "You help.")).chain((0..turns).map(said)).collect()
}

fn on_each(test: impl Fn(&mut Client, &str)) {
    for engine in ENGINES {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut client = daemon.client();
        configure(&mut client, engine);
        test(&mut client, engine);
    }
}

/// Calls without results, and results without calls, are no reason to compress. A list from which nothing can be
/// removed is returned with them.
#[test]
fn a_list_below_the_threshold_is_not_compressed_because_it_needs_repair() {
    on_each(|client, engine| {
        let mut list = talk(60, 60);
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "lost", "type": "function",
            "function": {"name": "terminal", "arguments": "{}"}}]});
        list.insert(20, Json::from_value(&call).unwrap());
        let orphan = json!({"role": "tool", "tool_call_id": "nobody", "content": "a result"});
        list.insert(41, Json::from_value(&orphan).unwrap());
        let check = CheckParams { session: "s".into(), messages: Some(list.clone()), ..CheckParams::default() };
        assert!(!client.context_check(check).unwrap().compress, "{engine}");
        let short = &list[15..25];
        let done = compress(client, short, false);
        assert!(!done.report.compressed && done.messages.unwrap() == short, "{engine}: {:?}", done.report.reason);
    });
}

/// If `check` reports that a compression is due, `compress` compresses. Afterwards `check` does not ask for it again.
#[test]
fn there_is_one_threshold() {
    on_each(|client, engine| {
        let list = talk(900, 60);
        let ask = |client: &mut Client, list: &[Json]| {
            let params = CheckParams { session: "s".into(), messages: Some(list.to_vec()), ..CheckParams::default() };
            client.context_check(params).unwrap()
        };
        let before = ask(client, &list);
        assert!(before.compress && before.tokens >= before.threshold, "{engine}: {before:?}");
        let done = compress(client, &list, false);
        assert!(done.report.compressed && done.report.over.is_none(), "{engine}");
        let after = ask(client, &done.messages.unwrap());
        assert_eq!((after.compress, after.threshold), (false, before.threshold), "{engine}: {after:?}");
        assert!(after.tokens < after.threshold, "{engine}: {after:?}");
    });
}

/// If nothing becomes shorter, the list is returned unchanged, and repeated attempts leave no data.
#[test]
fn trying_again_and_again_makes_no_summaries() {
    on_each(|client, engine| {
        let list = talk(30, 10);
        for _ in 0..20 {
            let done = compress(client, &list, false);
            assert!(!done.report.compressed && done.messages.unwrap() == list, "{engine}");
        }
        let kept = client.recall_describe(DescribeParams { session: "s".into() }).unwrap();
        assert!(kept.compressions.is_empty() && kept.map.is_empty(), "{engine}: {kept:?}");
    });
}

/// Many compressions leave few nodes in the map, each of them whole, and one handoff.
#[test]
fn the_store_does_not_fill_with_cut_off_summaries() {
    on_each(|client, engine| {
        let mut list = talk(1, 10);
        for round in 0..25 {
            list.extend(
                talk(80, 80)
                    .into_iter()
                    .skip(1)
                    .map(|message| Json::parse(message.get().replace("turn", &format!("round {round} turn"))).unwrap()),
            );
            list = compress(client, &list, true).messages.unwrap();
            let handoffs = list.iter().filter(|message| message.get().contains("CONTEXT COMPACTION")).count();
            assert_eq!(handoffs, 1, "{engine}, round {round}");
        }
        let map = client.recall_describe(DescribeParams { session: "s".into() }).unwrap().map;
        assert!(map.len() < 20, "{engine}: {}", map.len());
        assert!(!list.iter().any(|message| message.get().contains("[summary truncated]")), "{engine}");
        for node in map {
            let opened = client.recall_expand(ExpandParams { handle: node.id, ..ExpandParams::default() }).unwrap();
            assert!(!opened.items.is_empty(), "{engine}");
        }
    });
}

/// The list keeps the user's last message and the newest earlier ones, not only the first.
#[test]
fn the_newest_words_of_the_user_are_in_the_list() {
    on_each(|client, engine| {
        let mut list = talk(700, 60);
        for name in ["blue", "green", "amber"] {
            list.push(say("user", &format!("And then make the {name} button larger, please.")));
            list.push(say("assistant", "Done."));
        }
        list.push(say("user", "What is left?"));
        let new = compress(client, &list, true).messages.unwrap();
        assert!(new.last() == list.last(), "{engine}");
        let all: String = new.iter().map(Json::get).collect();
        for name in ["blue", "green", "amber"] {
            assert!(all.contains(&format!("make the {name} button larger")), "{engine}: {name}");
        }
    });
}

/// A long paste that is removed leaves its beginning in the list, and can be opened whole.
#[test]
fn a_long_paste_leaves_a_preview_and_can_be_opened() {
    on_each(|client, engine| {
        let paste =
            format!("Here is the report of the incident 4711.\n{}", "The valve was open at noon.\n".repeat(1_500));
        let mut list = talk(100, 60);
        list.push(say("user", &paste));
        list.extend(talk(700, 60).into_iter().skip(1));
        let done = compress(client, &list, true);
        let new = done.messages.unwrap();
        let all: String = new.iter().map(Json::get).collect();
        assert!(all.contains("report of the incident 4711"), "{engine}: the paste has no preview");
        let search = recall::SearchParams { query: "incident 4711".into(), ..recall::SearchParams::default() };
        let hits = client.recall_search(search).unwrap().hits;
        let opened = hits.iter().any(|hit| {
            let params =
                ExpandParams { handle: hit.handle.clone(), before: Some(0), after: Some(0), ..ExpandParams::default() };
            let items = client.recall_expand(params).unwrap().items;
            items
                .iter()
                .filter_map(|item| item.message.as_ref())
                .any(|message| serde_json::from_str::<Value>(message.get()).unwrap()["content"] == json!(paste))
        });
        assert!(opened, "{engine}");
    });
}

/// A model that gets a map also gets the tools that open it.
#[test]
fn the_tools_that_open_what_left_are_offered() {
    on_each(|client, engine| {
        let tools = client.recall_schema(recall::SchemaParams {}).unwrap();
        let text = serde_json::to_string(&tools).unwrap();
        for name in ["recall_search", "recall_expand"] {
            assert!(text.contains(name), "{engine}: {name}");
        }
        let list = talk(900, 60);
        let generation = 0;
        let params = AppendParams { session: "s".into(), generation, position: 0, messages: list.clone() };
        client.session_append(params).unwrap();
        let new = compress(client, &list, true).messages.unwrap();
        let handoff = new.iter().find(|message| message.get().contains("CONTEXT COMPACTION")).unwrap();
        assert!(handoff.get().contains("recall"), "{engine}: the handoff does not say how to open what left");
    });
}

/// A model that never answers is stopped at its deadline, and the waiting client gets progress reports.
#[test]
fn a_model_that_never_answers_ends_at_its_deadline_and_what_is_done_is_told() {
    let config = "[summarizer]\nchain = [\"command\", \"extractive\"]\n\
                  [summarizer.command]\nargv = [\"sleep\", \"1000\"]\ntimeout = \"200ms\"\n";
    let home = Home::configured(config);
    let daemon = Daemon::start(&home);
    let mut watching = daemon.raw();
    watching.result("subscribe", &json!({ "topics": ["compression.progress"] }));
    let mut client = daemon.client();
    configure(&mut client, "compressor");
    let done = compress(&mut client, &talk(900, 60), true);
    assert!(done.report.compressed && done.report.fallback, "{:?}", done.report);
    assert!(done.report.elapsed_ms > 200.0, "it was asked");
    let mut phases: Vec<String> = Vec::new();
    while phases.last().is_none_or(|phase| phase != "assemble") {
        let told = watching.read();
        assert_eq!(told["params"]["session"], "s", "{told}");
        phases.push(told["params"]["phase"].as_str().unwrap().to_owned());
    }
    for phase in ["prune", "summarise", "assemble"] {
        assert!(phases.iter().any(|told| told == phase), "{phases:?}");
    }
}
