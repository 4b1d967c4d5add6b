//! Lists in the forms of other providers, with every method that accepts a list.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

const FORMS: [&str; 4] = ["anthropic", "responses", "gemini", "function_call"];

fn user(form: &str, text: &str) -> Value {
    match form {
        "responses" => {
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
        }
        "gemini" => json!({ "role": "user", "parts": [{ "text": text }] }),
        _ => json!({ "role": "user", "content": text }),
    }
}

fn assistant(form: &str, text: &str) -> Value {
    match form {
        "responses" => {
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
        }
        "gemini" => json!({ "role": "model", "parts": [{ "text": text }] }),
        _ => json!({ "role": "assistant", "content": text }),
    }
}

/// Returns a call with its result, as items of a form.
fn step(form: &str, id: &str, result: &str) -> Vec<Value> {
    let input = json!({ "path": format!("/srv/{id}.txt") });
    match form {
        "anthropic" => vec![
            json!({ "role": "assistant", "content": [
                { "type": "thinking", "thinking": "let me look", "signature": "s" },
                { "type": "tool_use", "id": id, "name": "read", "input": input }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": result }] }),
        ],
        "responses" => vec![
            json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [], "encrypted_content": "gAAA" }),
            json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": input.to_string() }),
            json!({ "type": "function_call_output", "call_id": id, "output": result }),
        ],
        "gemini" => vec![
            json!({ "role": "model", "parts": [{ "functionCall": { "name": "read", "args": input }, "thoughtSignature": "c2ln" }] }),
            json!({ "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": { "output": result } } }] }),
        ],
        _ => vec![
            json!({ "role": "assistant", "content": null, "function_call": { "name": "read", "arguments": input.to_string() } }),
            json!({ "role": "function", "name": "read", "content": result }),
        ],
    }
}

fn turn(form: &str, at: usize) -> Vec<Value> {
    let mut items = vec![user(form, &format!("question {at} about topic-{at} {}", "word ".repeat(60)))];
    items.extend(step(form, &format!("call_{at}"), &format!("result {at} {}", "line of it ".repeat(60))));
    items.push(assistant(form, &format!("answer {at} {}", "word ".repeat(60))));
    items
}

fn day(form: &str, turns: std::ops::Range<usize>) -> Vec<Value> {
    turns.flat_map(|at| turn(form, at)).collect()
}

fn configured(raw: &mut Raw, session: &str, engine: &str) {
    let params = json!({ "session": session, "context_length": 9_000, "engine": engine });
    assert!(raw.call("context.configure", &params)["result"].is_object());
}

fn compress(raw: &mut Raw, session: &str, list: &[Value]) -> Value {
    let reply = raw.call("context.compress", &json!({ "session": session, "messages": list }));
    assert_eq!(reply["result"]["report"]["compressed"], true, "{reply}");
    reply["result"].clone()
}

fn list_of(result: &Value) -> Vec<Value> {
    result["messages"].as_array().unwrap().clone()
}

/// Checks that a list has as many results as calls, and nothing in the form of chat completions.
fn assert_form(form: &str, list: &[Value]) {
    let text = json!(list).to_string();
    let count = |word: &str| text.matches(word).count();
    let (calls, results) = match form {
        "anthropic" => (count("\"type\":\"tool_use\""), count("\"type\":\"tool_result\"")),
        "responses" => (count("\"type\":\"function_call\""), count("\"type\":\"function_call_output\"")),
        "gemini" => (count("\"functionCall\""), count("\"functionResponse\"")),
        _ => (count("\"function_call\":"), count("\"role\":\"function\"")),
    };
    assert!(calls == results && calls > 0, "{form}: {calls} calls and {results} results");
    for foreign in ["\"tool_calls\"", "\"role\":\"tool\"", "\"_item\"", "_compressed_summary"] {
        assert!(!text.contains(foreign), "{form} has {foreign}");
    }
}

#[test]
fn a_list_comes_back_in_its_form_from_both_engines_again_and_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (form, engine) in FORMS.into_iter().flat_map(|form| [(form, "compressor"), (form, "lossless")]) {
        let session = format!("{form}-{engine}");
        configured(&mut raw, &session, engine);
        let mut list = day(form, 0..30);
        for round in 1..4 {
            let before = list.clone();
            let result = compress(&mut raw, &session, &list);
            list = list_of(&result);
            let report = &result["report"];
            assert_eq!(report["messages_before"], before.len(), "{session} {round}: {report}");
            assert_eq!(report["messages_after"], list.len(), "{session} {round}: {report}");
            let tail = usize::try_from(report["tail"].as_u64().unwrap()).unwrap();
            assert_eq!(list.last(), before.last(), "{session} {round}");
            assert!(tail > 0 && tail < before.len(), "{session} {round}: {report}");
            assert_form(form, &list);
            let handoffs = json!(list).to_string().matches("[CONTEXT COMPACTION").count();
            assert_eq!(handoffs, 1, "{session} {round}");
            list.extend(day(form, 30 * round..30 * round + 30));
        }
        // A removed message is found by search.
        let found = raw.call("recall.search", &json!({ "query": "topic-3", "session": session }));
        assert!(found["result"]["hits"][0]["snippet"].as_str().is_some_and(|text| text.contains("topic-3")), "{found}");
    }
}

#[test]
fn edits_make_the_same_list_and_a_plan_speaks_of_items() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for form in FORMS {
        let list = day(form, 0..30);
        for session in ["whole", "edited"] {
            configured(&mut raw, &format!("{form}-{session}"), "compressor");
        }
        let plan = json!({ "session": format!("{form}-whole"), "messages": list, "preview": true });
        let plan = raw.call("context.plan", &plan)["result"].clone();
        let whole = compress(&mut raw, &format!("{form}-whole"), &list);
        let params = json!({ "session": format!("{form}-edited"), "messages": list, "reply": "edits" });
        let edits = raw.call("context.compress", &params)["result"]["edits"].clone();
        let shown = |list: &[Value]| -> Vec<String> {
            let without_handle = |item: &Value| item.to_string().split("cmp_").next().unwrap_or_default().to_owned();
            list.iter().map(without_handle).collect()
        };
        assert_eq!(shown(&applied(&list, &edits)), shown(&list_of(&whole)), "{form}");
        assert_eq!(applied(&list, &plan["preview"]["edits"]).len(), list_of(&whole).len(), "{form}");
        assert_eq!(plan["preview"]["messages_after"], list_of(&whole).len(), "{form}");
        let planned = plan["messages"].as_array().unwrap();
        assert_eq!(planned.len(), list.len(), "{form}: a plan prunes and leaves nothing out");
        assert_form(form, planned);
        let start = usize::try_from(plan["start"].as_u64().unwrap()).unwrap();
        assert!(start < usize::try_from(plan["end"].as_u64().unwrap()).unwrap());
        assert!(
            plan["scores"].as_array().unwrap().iter().all(|one| one["index"].as_u64().unwrap() < list.len() as u64)
        );
        let checked = raw.call("context.check", &json!({ "session": format!("{form}-whole"), "messages": list }));
        assert_eq!(checked["result"]["compress"], true, "{form}: {checked}");
    }
}

fn applied(list: &[Value], edits: &Value) -> Vec<Value> {
    let mut list: Vec<Option<Value>> = list.iter().cloned().map(Some).collect();
    let place = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    for replaced in edits["replace"].as_array().unwrap() {
        list[place(&replaced["index"])] = Some(replaced["message"].clone());
    }
    let kept = |at: usize| {
        edits["keep"].as_array().unwrap().iter().any(|range| (place(&range[0])..place(&range[1])).contains(&at))
    };
    let mut made = Vec::new();
    for at in 0..=list.len() {
        let inserted = edits["insert"].as_array().unwrap().iter().filter(|one| place(&one["at"]) == at);
        made.extend(inserted.map(|one| one["message"].clone()));
        if at < list.len() && kept(at) {
            made.extend(list[at].take());
        }
    }
    made
}

#[test]
fn pins_discarded_outputs_and_undo_know_the_items() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for form in FORMS {
        let session = format!("{form}-pins");
        configured(&mut raw, &session, "compressor");
        let list = day(form, 0..30);
        let own = |item: &Value| item.to_string().contains("question 7 ");
        let pinned = list.iter().position(own).unwrap();
        let reply = raw.call("context.pin", &json!({ "session": session, "message": list[pinned] }));
        assert!(reply["result"]["id"].is_string(), "{reply}");
        let result = list.iter().position(|item| item.to_string().contains("result 28 ")).unwrap();
        let reply = raw.call("context.discard", &json!({ "session": session, "messages": [list[result]] }));
        assert_eq!(reply["result"]["outputs"], 1, "{form}: {reply}");
        let done = compress(&mut raw, &session, &list);
        let new = list_of(&done);
        assert!(new.contains(&list[pinned]), "{form}: the pinned item stays byte for byte");
        assert!(!json!(new).to_string().contains("result 28 line of it line"), "{form}");
        assert_form(form, &new);
        let said = turn(form, 77);
        let grown: Vec<Value> = new.iter().chain(&said).cloned().collect();
        let back = raw.call("context.undo", &json!({ "session": session, "messages": grown }))["result"].clone();
        assert_eq!(back["since"], said.len(), "{form}: {back:.300}");
        let wanted: Vec<Value> = list.iter().chain(&said).cloned().collect();
        assert_eq!(list_of(&back), wanted, "{form}");
    }
}

#[test]
fn nodes_are_opened_and_folded_in_the_form_of_the_list() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for form in FORMS {
        let session = format!("{form}-nodes");
        configured(&mut raw, &session, "lossless");
        let mut list = list_of(&compress(&mut raw, &session, &day(form, 0..30)));
        // The larger window has room for the whole list.
        let params = json!({ "session": session, "context_length": 60_000 });
        assert!(raw.call("context.configure", &params)["result"].is_object());
        let map = raw.call("recall.describe", &json!({ "session": session }))["result"]["map"].clone();
        let node = map
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|node| {
                let children = node["children"].as_array().cloned().unwrap_or_default();
                if children.is_empty() { vec![node["id"].clone()] } else { children }
            })
            .next()
            .unwrap();
        let opened = raw.call("context.open", &json!({ "session": session, "node": node, "messages": list }));
        let (at, block) = (
            usize::try_from(opened["result"]["at"].as_u64().unwrap_or_else(|| panic!("{opened}"))).unwrap(),
            list_of(&opened["result"]),
        );
        assert_form(form, &block);
        let before = list.clone();
        list.splice(at..at, block.iter().cloned());
        let folded = raw.call("context.fold", &json!({ "session": session, "messages": list }));
        assert_eq!(folded["result"]["remove"], json!([[at, at + block.len()]]), "{form}: {folded}");
        list.drain(at..at + block.len());
        assert_eq!(list, before);
    }
}

#[test]
fn what_was_appended_in_another_form_is_compressed_in_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for form in FORMS {
        let session = format!("{form}-appended");
        configured(&mut raw, &session, "compressor");
        let list = day(form, 0..30);
        let append = json!({ "session": session, "generation": 0, "position": 0, "messages": list });
        assert_eq!(raw.call("session.append", &append)["result"]["position"], list.len());
        let reply = raw.call("context.compress", &json!({ "session": session }))["result"].clone();
        assert_eq!(reply["report"]["compressed"], true, "{form}: {reply}");
        let new = list_of(&reply);
        assert_form(form, &new);
        assert_eq!(new.last(), list.last());
        // The session continues in its form.
        let (said, position) = (day(form, 40..70), new.len());
        let append = json!({ "session": session, "generation": 1, "position": position, "messages": said });
        let appended = raw.call("session.append", &append);
        let position = appended["result"]["position"].as_u64().or_else(|| {
            let next = appended["error"]["data"]["position"].clone();
            let again = json!({ "session": session, "generation": 1, "position": next, "messages": said });
            raw.call("session.append", &again)["result"]["position"].as_u64()
        });
        assert!(position.is_some(), "{form}: {appended}");
        let again = raw.call("context.compress", &json!({ "session": session }))["result"].clone();
        assert_eq!(again["report"]["compressed"], true, "{form}: {again}");
        assert_form(form, &list_of(&again));
    }
}
