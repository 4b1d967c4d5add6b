//! The budget for all results of a turn together.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

/// Settles a turn, and checks that `total` counts its new contents. Returns the replaced positions and the answer.
fn settle(raw: &mut Raw, form: &str, list: &Value, budget: usize) -> (Vec<u64>, Value) {
    let params = json!({ "session": "s", form: list, "config": { "turn_budget": budget, "preview_size": 10, "preview_tail_size": 0 } });
    let settled = raw.result("output.settle_turn", &params);
    let mut contents: Vec<Value> = list.as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    let mut places = Vec::new();
    for replacement in settled["replacements"].as_array().unwrap() {
        let place = replacement["index"].as_u64().unwrap();
        contents[usize::try_from(place).unwrap()] = replacement["content"].clone();
        places.push(place);
    }
    let total: usize = contents.iter().map(chars).sum();
    assert_eq!(settled["total"], json!(total));
    (places, settled)
}

/// Counts the chars of a content. Of a list, counts those of its texts.
fn chars(content: &Value) -> usize {
    match content {
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n").chars().count()
        }
        content => content.as_str().unwrap_or_default().chars().count(),
    }
}

fn result(id: &str, length: usize) -> Value {
    json!({ "id": id, "content": id.repeat(length) })
}

#[test]
fn the_largest_goes_first_and_of_equal_ones_the_first() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let five = json!([result("a", 3000), result("b", 5000), result("c", 3000), result("d", 3000), result("e", 4000)]);
    for (budget, expected) in [
        (18_000, vec![]),
        (17_999, vec![1]),
        (13_000, vec![1, 4]),
        (9_000, vec![0, 1, 4]),
        (6_000, vec![0, 1, 2, 4]),
        (4_000, vec![0, 1, 2, 3, 4]),
        (0, vec![0, 1, 2, 3, 4]),
    ] {
        let (places, settled) = settle(&mut raw, "results", &five, budget);
        assert_eq!(places, expected, "{budget}");
        for replacement in settled["replacements"].as_array().unwrap() {
            let path = replacement["path"].as_str().unwrap();
            let id = five[usize::try_from(replacement["index"].as_u64().unwrap()).unwrap()]["id"].as_str().unwrap();
            assert!(path.ends_with(&format!("/s/{id}.txt")), "{path}");
            assert!(replacement["handle"].as_str().unwrap().starts_with("out_"));
        }
    }
    // The example of the contract: six results of 42,000.
    let six: Vec<Value> = ["m", "n", "o", "p", "q", "r"].iter().map(|id| result(id, 42_000)).collect();
    let settled = raw.result("output.settle_turn", &json!({ "session": "s", "results": six }));
    let places: Vec<&Value> = settled["replacements"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
    assert_eq!(places, [&json!(0), &json!(1)]);
}

#[test]
fn what_has_no_id_is_named_by_its_place() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let results = json!([{ "content": "x".repeat(900) }, { "id": null, "content": "y".repeat(1000) }]);
    let messages = json!([
        { "role": "tool", "content": null },
        { "role": "tool" },
        { "role": "tool", "tool_call_id": "", "content": "z".repeat(700) },
        { "role": "tool", "tool_call_id": null, "content": "v".repeat(800) },
    ]);
    for (form, list, expected) in [
        ("results", results, ["budget_0.txt", "budget_1.txt"]),
        ("messages", messages, ["budget_2.txt", "budget_3.txt"]),
    ] {
        let (_, settled) = settle(&mut raw, form, &list, 0);
        let names: Vec<&str> = settled["replacements"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["path"].as_str().unwrap().rsplit('/').next().unwrap())
            .collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn messages_are_settled_as_results_are() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let image =
        json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{}", "A".repeat(9000)) } });
    let list = json!([
        { "role": "tool", "tool_call_id": "a", "content": "a".repeat(2000) },
        { "role": "tool", "tool_call_id": "b", "content": null },
        { "role": "tool", "tool_call_id": "c", "name": "probe", "content": [{ "type": "text", "text": "c".repeat(2500) }, image] },
        { "role": "tool", "tool_call_id": "d", "content": [image] },
    ]);
    // An image has no chars.
    assert_eq!(settle(&mut raw, "messages", &list, 4_500).0, Vec::<u64>::new());
    let (places, settled) = settle(&mut raw, "messages", &list, 4_499);
    assert_eq!(places, [2]);
    let content = settled["replacements"][0]["content"].as_array().unwrap();
    assert_eq!(content.iter().filter(|part| **part == image).count(), 1);
    let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
    assert!(texts.len() == 1 && texts[0].starts_with("<persisted-output>"), "{texts:?}");
    for wrong in [json!({}), json!({ "results": [], "messages": [] })] {
        let mut params = json!({ "session": "s" });
        params.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(herma_tests::kind(&raw.call("output.settle_turn", &params)), "invalid_params", "{params}");
    }
    assert_eq!(settle(&mut raw, "results", &json!([]), 0).0, Vec::<u64>::new());
}

#[test]
fn what_was_spilled_before_counts_but_stays() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let (_, settled) = settle(&mut raw, "results", &json!([result("a", 5000)]), 10);
    let block = settled["replacements"][0]["content"].clone();
    let length = chars(&block);
    let list = json!([{ "id": "a", "content": block }, result("b", 1000), { "id": "c", "content": format!("by hand: {}", block.as_str().unwrap()) }]);
    let whole = 2 * length + 1009;
    assert_eq!(settle(&mut raw, "results", &list, whole).0, Vec::<u64>::new());
    assert_eq!(settle(&mut raw, "results", &list, whole - 1).0, [1]);
    assert_eq!(settle(&mut raw, "results", &list, 1).0, [1]);
}

#[test]
fn one_id_never_loses_a_content_and_one_content_takes_its_room_once() {
    use std::os::unix::fs::MetadataExt;

    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let contents = ["one ".repeat(500), "two ".repeat(500), "three ".repeat(500)];
    let mut handles = Vec::new();
    for content in &contents {
        let first = super::admit(&mut raw, &json!(content), &json!({ "threshold": 0 }));
        let again = super::admit(&mut raw, &json!(content), &json!({ "threshold": 0 }));
        assert_eq!(first, again);
        handles.push(first["handle"].as_str().unwrap().to_owned());
    }
    let place = |admitted: Value| admitted["path"].as_str().unwrap().to_owned();
    let mut paths = Vec::new();
    for (session, id) in [("s", "c"), ("s", "d"), ("t", "c"), ("t", "a b/../c")] {
        let more = json!({ "session": session, "id": id, "threshold": 0 });
        paths.push(place(super::admit(&mut raw, &json!(contents[0]), &more)));
    }
    let inode = |path: &String| std::fs::metadata(path).unwrap().ino();
    assert!(paths.iter().all(|path| inode(path) == inode(&paths[0])), "{paths:?}");
    paths.dedup();
    assert_eq!(paths.len(), 4);
    let slug = paths[3].rsplit('/').next().unwrap();
    assert!(slug.ends_with(".txt") && slug.contains('a') && !slug.contains(' '), "{slug}");
    // This comes last, because a text that was returned is not spilled when it comes back.
    for (handle, content) in handles.iter().zip(&contents) {
        assert_eq!(super::walk(&mut raw, &json!({ "handle": handle })).0, *content);
    }
    let status = raw.result("status", &json!({}));
    let bytes: usize = contents.iter().map(String::len).sum();
    assert_eq!(status["outputs"]["bytes"], json!(bytes), "identical content counts once");
}
