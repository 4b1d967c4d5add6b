//! Lists of other providers: what comes back is in their form, with every call answered, and says the same.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use herma_context::engine::{CompressRequest, Compressed, EngineState, Slot, Summary};
use herma_context::forms::{self, Translation};
use herma_context::{Engine, Message, RawSettings, Settings, pairs};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a form is called here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    FunctionCall,
    Anthropic,
    Responses,
    Gemini,
}

/// One turn: what the user says, and the steps of the assistant until its answer.
#[derive(Clone, Debug)]
struct Turn {
    ask: String,
    steps: Vec<Step>,
    answer: String,
    has_picture: bool,
}

/// Calls at one time, with their results.
#[derive(Clone, Debug)]
struct Step {
    thought: Option<String>,
    text: Option<String>,
    /// The number of a function, and what it gave.
    calls: Vec<(usize, String)>,
    /// What the user says beside the results.
    remark: Option<String>,
}

fn words(most: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (1..most.max(2)).prop_map(|n| "some words of it ".repeat(n)),
        1 => (1..most.max(2)).prop_map(|n| "中文字 ".repeat(n)),
        1 => Just("plain".to_owned()),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec((0_usize..3, words(120)), 1..4);
    (prop::option::of(words(20)), prop::option::of(words(9)), calls, prop::option::weighted(0.2, words(9)))
        .prop_map(|(thought, text, calls, remark)| Step { thought, text, calls, remark })
}

fn turn() -> impl Strategy<Value = Turn> {
    (words(60), prop::collection::vec(step(), 0..3), words(60), prop::bool::weighted(0.1))
        .prop_map(|(ask, steps, answer, has_picture)| Turn { ask, steps, answer, has_picture })
}

impl Form {
    fn list(self, turns: &[Turn]) -> Vec<Value> {
        let mut list = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            list.push(self.ask(turn));
            for (number, step) in turn.steps.iter().enumerate() {
                self.step(&format!("{at}-{number}"), step, &mut list);
            }
            list.push(match self {
                Self::FunctionCall | Self::Anthropic => json!({ "role": "assistant", "content": turn.answer }),
                Self::Responses => json!({
                    "type": "message", "role": "assistant", "id": format!("msg_{at}"), "status": "completed",
                    "content": [{ "type": "output_text", "text": turn.answer, "annotations": [] }],
                }),
                Self::Gemini => {
                    json!({ "role": "model", "parts": [{ "text": turn.answer, "thoughtSignature": "c2ln" }] })
                }
            });
        }
        list
    }

    fn ask(self, turn: &Turn) -> Value {
        let (ask, data) = (&turn.ask, "iVBORw0KGgo".repeat(40));
        match (self, turn.has_picture) {
            (Self::FunctionCall | Self::Anthropic, false) => json!({ "role": "user", "content": ask }),
            (Self::FunctionCall, true) => json!({ "role": "user", "content": [
                { "type": "text", "text": ask }, { "type": "image_url", "image_url": { "url": data } }] }),
            (Self::Anthropic, true) => json!({ "role": "user", "content": [{ "type": "text", "text": ask },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }] }),
            (Self::Responses, false) => json!({ "role": "user", "content": [{ "type": "input_text", "text": ask }] }),
            (Self::Responses, true) => json!({ "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": ask }, { "type": "input_image", "image_url": data }] }),
            (Self::Gemini, false) => json!({ "role": "user", "parts": [{ "text": ask }] }),
            (Self::Gemini, true) => json!({ "role": "user", "parts": [
                { "text": ask }, { "inlineData": { "mimeType": "image/png", "data": data } }] }),
        }
    }

    fn step(self, mark: &str, step: &Step, list: &mut Vec<Value>) {
        let name = |function: usize| format!("tool_{function}");
        let arguments = json!({ "path": format!("/srv/{mark}.txt"), "text": "long ".repeat(80) });
        let ids: Vec<String> = (0..step.calls.len()).map(|call| format!("call_{mark}_{call}")).collect();
        let calls = || step.calls.iter().zip(&ids).enumerate();
        match self {
            // It has one call at a time.
            Self::FunctionCall => {
                for (function, result) in &step.calls {
                    let call = json!({ "name": name(*function), "arguments": arguments.to_string() });
                    list.push(json!({ "role": "assistant", "content": step.text, "function_call": call }));
                    list.push(json!({ "role": "function", "name": name(*function), "content": result }));
                }
            }
            Self::Anthropic => {
                let mut blocks: Vec<Value> = Vec::new();
                blocks.extend(
                    step.thought
                        .iter()
                        .map(|thought| json!({ "type": "thinking", "thinking": thought, "signature": "s" })),
                );
                blocks.extend(step.text.iter().map(|text| json!({ "type": "text", "text": text })));
                blocks.extend(calls().map(|(_, ((function, _), id))| {
                    json!({ "type": "tool_use", "id": id, "name": name(*function), "input": arguments })
                }));
                list.push(json!({ "role": "assistant", "content": blocks }));
                let result = |(at, ((_, result), id)): (usize, (&(usize, String), &String))| match at % 2 {
                    0 => json!({ "type": "tool_result", "tool_use_id": id, "content": result }),
                    _ => {
                        json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": [{ "type": "text", "text": result }] })
                    }
                };
                let mut blocks: Vec<Value> = calls().map(result).collect();
                blocks.extend(step.remark.iter().map(|remark| json!({ "type": "text", "text": remark })));
                list.push(json!({ "role": "user", "content": blocks }));
            }
            Self::Responses => {
                list.extend(step.thought.iter().map(|thought| {
                    json!({ "type": "reasoning", "id": format!("rs_{mark}"), "summary": [{ "type": "summary_text", "text": thought }], "encrypted_content": "gAAA" })
                }));
                list.extend(step.text.iter().map(|text| {
                    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
                }));
                list.extend(calls().map(|(_, ((function, _), id))| match function {
                    0 => json!({ "type": "custom_tool_call", "call_id": id, "name": name(0), "input": "*** Begin Patch" }),
                    1 => json!({ "type": "local_shell_call", "call_id": id, "action": { "type": "exec", "command": ["ls"] } }),
                    _ => json!({ "type": "function_call", "call_id": id, "id": "fc_1", "name": name(*function), "arguments": arguments.to_string(), "status": "completed" }),
                }));
                list.extend(calls().map(|(_, ((function, result), id))| {
                    let kind =
                        ["custom_tool_call_output", "local_shell_call_output", "function_call_output"][*function];
                    json!({ "type": kind, "call_id": id, "output": result })
                }));
            }
            Self::Gemini => {
                let mut parts: Vec<Value> = Vec::new();
                parts.extend(step.thought.iter().map(|thought| json!({ "text": thought, "thought": true })));
                parts.extend(step.text.iter().map(|text| json!({ "text": text })));
                parts.extend(calls().map(|(at, ((function, _), _))| {
                    let call = json!({ "name": name(*function), "args": arguments });
                    if at == 0 {
                        json!({ "functionCall": call, "thoughtSignature": "c2ln" })
                    } else {
                        json!({ "functionCall": call })
                    }
                }));
                list.push(json!({ "role": "model", "parts": parts }));
                let mut parts: Vec<Value> = calls()
                    .map(|(at, ((function, result), _))| {
                        let response = if at % 2 == 0 {
                            json!({ "output": result })
                        } else {
                            json!({ "lines": 3, "text": result })
                        };
                        json!({ "functionResponse": { "name": name(*function), "response": response } })
                    })
                    .collect();
                parts.extend(step.remark.iter().map(|remark| json!({ "text": remark })));
                list.push(json!({ "role": "user", "parts": parts }));
            }
        }
    }

    /// What a provider would refuse in a list, if it would.
    fn refusal(self, list: &[Value]) -> Option<String> {
        match self {
            Self::FunctionCall => pairs_of(list, |item| {
                let role = item["role"].as_str();
                let own = |name: &Value| name.as_str().map(str::to_owned).into_iter().collect();
                (
                    own(&item["function_call"]["name"]),
                    if role == Some("function") { own(&item["name"]) } else { Vec::new() },
                )
            }),
            Self::Anthropic => {
                let blocks = |item: &Value| item["content"].as_array().cloned().unwrap_or_default();
                let ids = |item: &Value, kind: &str, id: &str| -> Vec<String> {
                    let blocks = blocks(item).into_iter().filter(|block| block["type"] == kind);
                    blocks.map(|block| block[id].as_str().unwrap_or_default().to_owned()).collect()
                };
                let known = |item: &&Value| {
                    item.as_object().is_some_and(|fields| fields.keys().all(|key| key == "role" || key == "content"))
                };
                if let Some(other) = list.iter().find(|item| !known(item)) {
                    return Some(format!("fields that nobody knows: {other}"));
                }
                let is_late = |item: &&Value| {
                    let kinds: Vec<bool> = blocks(item).iter().map(|block| block["type"] == "thinking").collect();
                    kinds.contains(&true) && !kinds.first().copied().unwrap_or_default()
                };
                if let Some(late) = list.iter().find(is_late) {
                    return Some(format!("a thought that comes late: {late}"));
                }
                next_to_each_other(
                    list,
                    |item| ids(item, "tool_use", "id"),
                    |item| ids(item, "tool_result", "tool_use_id"),
                )
            }
            Self::Responses => {
                let refused = pairs_of(list, |item| {
                    let kind = item["type"].as_str().unwrap_or_default();
                    let id = || {
                        vec![format!(
                            "{}:{}",
                            kind.trim_end_matches("_output"),
                            item["call_id"].as_str().unwrap_or_default()
                        )]
                    };
                    match kind {
                        kind if kind.ends_with("_call") => (id(), Vec::new()),
                        kind if kind.ends_with("_output") => (Vec::new(), id()),
                        _ => (Vec::new(), Vec::new()),
                    }
                });
                let thoughts = list.iter().zip(list.iter().skip(1).map(Some).chain([None]));
                let mut lonely = thoughts.filter(|(item, next)| {
                    item["type"] == "reasoning"
                        && next.is_none_or(|next| {
                            next["role"] != "assistant"
                                && !next["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
                        })
                });
                refused.or_else(|| lonely.next().map(|(item, _)| format!("a thought without what it led to: {item}")))
            }
            Self::Gemini => {
                let names = |item: &Value, field: &str| -> Vec<String> {
                    let parts = item["parts"].as_array().into_iter().flatten();
                    let mut names: Vec<String> =
                        parts.filter_map(|part| part[field]["name"].as_str()).map(str::to_owned).collect();
                    names.sort();
                    names
                };
                next_to_each_other(list, |item| names(item, "functionCall"), |item| names(item, "functionResponse"))
            }
        }
    }
}

/// Every call is answered in the item right behind it, and every result answers one.
fn next_to_each_other(
    list: &[Value],
    calls: impl Fn(&Value) -> Vec<String>,
    results: impl Fn(&Value) -> Vec<String>,
) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let (mut wanted, mut given) = (std::mem::take(&mut open), results(item));
        wanted.sort();
        given.sort();
        if wanted != given {
            return Some(format!("item {at} should answer {wanted:?} and answers {given:?}"));
        }
        open = calls(item);
    }
    (!open.is_empty()).then(|| format!("{open:?} are not answered"))
}

/// Every call is answered once, somewhere behind it and before a message.
fn pairs_of(list: &[Value], of: impl Fn(&Value) -> (Vec<String>, Vec<String>)) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let (calls, results) = of(item);
        for result in results {
            let Some(found) = open.iter().position(|call| *call == result) else {
                return Some(format!("item {at} answers {result:?}, which is not open"));
            };
            open.remove(found);
        }
        open.extend(calls);
        if item["role"] == "user" && !open.is_empty() {
            return Some(format!("{open:?} are open before item {at}"));
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} are not answered"))
}

fn settings(window: u64, engine: Engine) -> Settings {
    let raw = RawSettings { context_length: window, engine, ..RawSettings::default() };
    raw.check().unwrap()
}

fn read(list: &[Value]) -> (Vec<Message>, Arc<Translation>) {
    let read = forms::read(list.iter().map(Value::to_string).collect()).unwrap();
    (Message::all_of_json(read.messages), read.translation.unwrap())
}

fn compressed(messages: &[Message], settings: &Settings) -> Option<Compressed> {
    let request = CompressRequest::default();
    let mut prepared = settings.engine.prepare(messages, settings, &EngineState::default(), &request, drop).ok()?;
    prepared.write_own(&herma_guard::Policy::default());
    let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
    Some(prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None))
}

fn value(message: &Message) -> Value {
    serde_json::from_str(message.raw()).unwrap()
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![Just(Form::FunctionCall), Just(Form::Anthropic), Just(Form::Responses), Just(Form::Gemini)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_back_is_in_its_form_and_says_the_same(
        turns in prop::collection::vec(turn(), 1..16),
        form in form(),
        window in prop_oneof![Just(2_000_u64), Just(6_000), Just(16_000)],
        engine in prop_oneof![Just(Engine::Compressor), Just(Engine::Lossless)],
    ) {
        let list = form.list(&turns);
        prop_assert_eq!(form.refusal(&list), None, "the generator makes what a provider takes");
        let Ok(first) = forms::read(list.iter().map(Value::to_string).collect()) else { return Err(TestCaseError::fail("not read")) };
        let Some(translation) = first.translation else { return Ok(()) };
        let messages = Message::all_of_json(first.messages);
        let pairing = pairs::pairing(&messages);
        prop_assert!(pairing.orphans.is_empty() && pairing.unanswered.is_empty(), "{:?}", pairing);
        // Nothing changes: every item comes back byte for byte.
        let all: Vec<_> = (0..messages.len()).map(Slot::Kept).collect();
        let same: Vec<String> = translation.slots(&all, &messages).iter().map(|slot| slot.message(translation.items()).unwrap().raw().to_owned()).collect();
        prop_assert_eq!(same, list.iter().map(Value::to_string).collect::<Vec<_>>());
        // Written without the list they say the same.
        let written: Vec<Value> = translation.write(&messages).iter().map(value).collect();
        prop_assert_eq!(form.refusal(&written), None);
        let again = forms::read(written.iter().map(Value::to_string).collect()).unwrap();
        prop_assert_eq!(&again.messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect::<Vec<Value>>(), &messages.iter().map(value).collect::<Vec<_>>());

        let Some(done) = compressed(&messages, &settings(window, engine)) else { return Ok(()) };
        let slots = translation.slots(&done.slots, &messages);
        let indices: Vec<usize> = slots.iter().filter_map(Slot::index).collect();
        prop_assert!(indices.is_sorted_by(|one, next| one < next), "{:?}", indices);
        let items: Vec<Value> = slots.iter().map(|slot| value(slot.message(translation.items()).unwrap())).collect();
        prop_assert_eq!(form.refusal(&items), None, "{}", json!(items));
        prop_assert!(items.iter().all(|item| !item.to_string().contains("\"_item\"") && !item.to_string().contains("_compressed_summary")));
        // It is read as what the engine made.
        let again = forms::read(items.iter().map(Value::to_string).collect()).unwrap();
        let again: Vec<Value> = again.messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        if again.iter().any(|message| message["role"] == "tool" || message.get("tool_calls").is_some()) {
            let made: Vec<Value> = done.slots.iter().map(|slot| value(slot.message(&messages).unwrap())).collect();
            prop_assert_eq!(again, made);
        }
    }
}

/// Any JSON, made of the words that mean something here.
fn odd_value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "user",
        "assistant",
        "model",
        "function",
        "tool",
        "text",
        "tool_use",
        "tool_result",
        "function_call",
        "read",
        "function_call_output",
        "reasoning",
        "message",
        "thinking",
        "{}",
        "function/read/1",
        "function_call/read",
        "id",
    ]);
    let keys = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "parts",
        "text",
        "id",
        "call_id",
        "tool_use_id",
        "tool_call_id",
        "tool_calls",
        "name",
        "input",
        "arguments",
        "args",
        "output",
        "response",
        "functionCall",
        "functionResponse",
        "function_call",
        "function",
        "thought",
        "_item",
        "_key",
        "_part",
        "_block",
        "_compressed_summary",
        "key \"with\" \u{e9}",
    ]);
    let leaf = prop_oneof![
        words.prop_map(Value::from),
        any::<u8>().prop_map(Value::from),
        Just(json!(null)),
        Just(json!(true))
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..7)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_read_comes_back_byte_for_byte(odd in prop::collection::vec(odd_value(), 1..20)) {
        let mut texts: Vec<String> = odd.iter().map(Value::to_string).collect();
        texts.retain(|text| forms::read(vec![text.clone()]).is_ok());
        let read = forms::read(texts.clone()).unwrap();
        let messages = Message::all_of_json(read.messages);
        prop_assert!(messages.iter().all(|message| serde_json::from_str::<Value>(message.raw()).is_ok()));
        let Some(translation) = read.translation else { return Ok(()) };
        let all: Vec<Slot> = (0..messages.len()).map(Slot::Kept).collect();
        let same = translation.slots(&all, &messages);
        let same: Vec<&str> = same.iter().map(|slot| slot.message(translation.items()).unwrap().raw()).collect();
        prop_assert_eq!(same, texts.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert!(translation.write(&messages).iter().all(|item| serde_json::from_str::<Value>(item.raw()).is_ok()));
        // What an engine makes of it is JSON, too.
        if let Some(done) = compressed(&messages, &settings(300, Engine::Compressor)) {
            let new = translation.slots(&done.slots, &messages);
            prop_assert!(new.iter().all(|slot| serde_json::from_str::<Value>(slot.message(translation.items()).unwrap().raw()).is_ok()));
            let indices: Vec<usize> = new.iter().filter_map(Slot::index).collect();
            prop_assert!(indices.is_sorted_by(|one, next| one < next), "{:?}", indices);
        }
    }
}

#[test]
fn positions_of_items_and_messages_lead_to_each_other() {
    let step = Step {
        thought: Some("hm".into()),
        text: Some("so".into()),
        calls: vec![(2, "a".into()), (2, "b".into())],
        remark: Some("go".into()),
    };
    let turns = [Turn { ask: "do it".into(), steps: vec![step], answer: "done".into(), has_picture: false }];
    for (form, within) in [(Form::Anthropic, 2..5), (Form::Gemini, 2..5), (Form::Responses, 2..2)] {
        let list = form.list(&turns);
        let (messages, translation) = read(&list);
        for at in 0..messages.len() {
            assert!(translation.messages_of(translation.item_of(at)).contains(&at), "{form:?} {at}");
        }
        assert_eq!(translation.item_of(messages.len()), list.len());
        assert_eq!(translation.messages_of(list.len()), messages.len()..messages.len());
        assert_eq!(translation.messages_within(0..list.len()), 0..messages.len());
        assert_eq!(translation.messages_within(2..3), within, "{form:?}");
    }
}

#[test]
fn what_is_no_message_is_named() {
    for (item, words) in [
        (json!(7), "it is a number"),
        (json!(null), "it is null"),
        (json!("words"), "it is a string"),
        (json!([]), "it is a list"),
        (json!(true), "it is a boolean"),
        (json!({}), "an empty object"),
        (json!({ "id": 1 }), "neither a role nor a content, but id"),
        (json!({ "from": "human", "value": "hi" }), "but from, value"),
        (json!({ "type": "user", "message": { "role": "user", "content": "hi" } }), "type \"user\" is none"),
        (json!({ "type": "system", "subtype": "x", "content": "hi" }), "type \"system\" is none"),
        (
            json!({ "type": "response_item", "payload": { "type": "message", "role": "user" } }),
            "type \"response_item\"",
        ),
        (json!({ "type": "message", "id": "1", "message": { "role": "user" } }), "type \"message\" is none"),
        (json!({ "role": "user", "parts": [{ "type": "text", "text": "hi" }] }), "`parts` are none of Gemini's"),
        (json!({ "role": "user", "content": [{ "toolResult": {} }] }), "Bedrock"),
    ] {
        let list = vec![json!({ "role": "user", "content": "hi" }).to_string(), item.to_string(), json!(9).to_string()];
        let refused = forms::read(list).unwrap_err();
        assert_eq!(refused.index, 1, "{item}");
        assert!(refused.to_string().contains(words), "{refused}");
        assert!(refused.to_string().contains("item 1"), "{refused}");
    }
}

#[test]
fn chat_completions_stay_as_they_are() {
    let list: Vec<String> = [
        json!({ "role": "user", "content": "x" }),
        json!({ "content": "no role" }),
        json!({ "role": "narrator", "content": null }),
        json!({ "role": "user" }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "about a tool_use and \"parts\"" }, 7, null] }),
        json!({ "role": "user", "content": { "object": true } }),
        json!({ "role": "assistant", "function_call": null, "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }] }),
        json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "server_tool_use", "id": "s" }] }),
        json!({ "role": "tool", "tool_call_id": "c", "content": "x" }),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    let read = forms::read(list.clone()).unwrap();
    assert!(read.translation.is_none());
    assert_eq!(read.messages, list);
}
