//! Lists of other providers: the result is in their form, every call is answered, and the content is the
//! same.
#![expect(clippy::unwrap_used, reason = "tests")]

mod conversation;
mod rules;

use std::sync::Arc;

use herma_context::engine::{CompressRequest, Compressed, EngineState, Slot, Summary};
use herma_context::forms::{self, Translation};
use herma_context::{Engine, Message, RawSettings, Settings, pairs};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::conversation::{Form, Step, Turn, turn};

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
    prepared.write_summary(&herma_guard::Policy::default());
    let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
    Some(prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None))
}

/// Removes herma's own fields from messages.
fn said(mut messages: Vec<Value>) -> Vec<Value> {
    for message in messages.iter_mut().filter_map(Value::as_object_mut) {
        message.retain(|name, _| !name.starts_with('_'));
    }
    messages
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
        // Without changes every item comes back byte for byte.
        let all: Vec<_> = (0..messages.len()).map(Slot::Kept).collect();
        let same: Vec<String> = translation.slots(&all, &messages).iter().map(|slot| slot.message(translation.items()).unwrap().raw().to_owned()).collect();
        prop_assert_eq!(same, list.iter().map(Value::to_string).collect::<Vec<_>>());
        // Written without the original list, they have the same content.
        let written: Vec<Value> = translation.write(&messages).iter().map(value).collect();
        prop_assert_eq!(&written, &list);
        // The JSON formatting of a client's library does not matter.
        let pretty = list.iter().map(|item| serde_json::to_string_pretty(item).unwrap()).collect();
        let pretty: Vec<Value> = forms::read(pretty).unwrap().messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        prop_assert_eq!(&pretty, &messages.iter().map(value).collect::<Vec<_>>());
        let again = forms::read(written.iter().map(Value::to_string).collect()).unwrap();
        prop_assert_eq!(&again.messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect::<Vec<Value>>(), &messages.iter().map(value).collect::<Vec<_>>());

        let Some(done) = compressed(&messages, &settings(window, engine)) else { return Ok(()) };
        let slots = translation.slots(&done.slots, &messages);
        let indices: Vec<usize> = slots.iter().filter_map(Slot::index).collect();
        prop_assert!(indices.is_sorted_by(|one, next| one < next), "{:?}", indices);
        let items: Vec<Value> = slots.iter().map(|slot| value(slot.message(translation.items()).unwrap())).collect();
        prop_assert_eq!(form.refusal(&items), None, "{}", json!(items));
        prop_assert!(items.iter().all(|item| !item.to_string().contains("\"_item\"") && !item.to_string().contains("_compressed_summary")));
        // The written items are read as the engine's messages.
        let again = forms::read(items.iter().map(Value::to_string).collect()).unwrap();
        let again: Vec<Value> = again.messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let made: Vec<Value> = done.slots.iter().map(|slot| value(slot.message(&messages).unwrap())).collect();
        prop_assert_eq!(said(again), said(made));
    }
}

/// Returns any JSON made of the words that have a meaning here.
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
        // The result of an engine is JSON, too.
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

#[test]
fn fields_that_are_null_are_absent_as_libraries_write_them() {
    let part = |name: &str, value: Value| {
        let mut part = json!({ "text": null, "functionCall": null, "function_call": null, "function_response": null, "thought": null });
        part[name] = value;
        part
    };
    let list = [
        json!({ "role": "user", "content": null, "parts": [part("text", json!("hi"))] }),
        json!({ "role": "model", "parts": [part("function_call", json!({ "name": "read", "args": null, "id": null }))] }),
        json!({ "role": "user", "parts": [part("function_response", json!({ "name": "read", "response": { "output": "x" } }))] }),
    ];
    let (messages, translation) = read(&list);
    let roles: Vec<&str> = messages.iter().map(|message| message.role().as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!((&*messages[0].text(), messages[1].tool_calls().len(), &*messages[2].text()), ("hi", 1, "x"));
    assert_eq!(pairs::pairing(&messages), pairs::Pairing::default());
    let written: Vec<Value> = translation.write(&messages).iter().map(value).collect();
    assert_eq!(written[1..], list[1..], "null is written where it was");
}
