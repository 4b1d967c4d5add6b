use serde_json::{Value, json};

use super::*;
use crate::testing::{call_of, image, list, message, result, say};

fn line(tool: &str, arguments: Value, output: &str) -> String {
    let direct = one_line(tool, &arguments, Output::Text(output));
    let messages = [call_of("a", tool, &arguments.to_string()), result("a", output)];
    if output.chars().count() > SHORT_OUTPUT_CHARS {
        let pruned = prune(&messages, 0, None);
        assert_eq!(pruned.messages[1].text(), direct, "the same through the list");
    }
    direct
}

#[test]
fn every_tool_has_its_line() {
    let x = |n: usize| "x".repeat(n);
    let big = x(1_474);
    for (tool, arguments, output, expect) in [
        (
            "terminal",
            json!({"command": "npm test"}),
            format!("{{\"output\": \"a\", \"exit_code\": 0}}\n{big}"),
            "[terminal] ran `npm test` -> exit 0, 2 lines output".to_owned(),
        ),
        (
            "terminal",
            json!({"command": x(81)}),
            big.clone(),
            format!("[terminal] ran `{}...` -> exit ?, 1 lines output", x(77)),
        ),
        (
            "terminal",
            json!({"command": x(80)}),
            format!("\"exit_code\": -1\n\n{big}"),
            format!("[terminal] ran `{}` -> exit -1, 3 lines output", x(80)),
        ),
        ("terminal", json!({}), "  \n ".to_owned(), "[terminal] ran `` -> exit ?, 0 lines output".to_owned()),
        (
            "read_file",
            json!({"path": "a.rs", "offset": 20}),
            big.clone(),
            "[read_file] read a.rs from line 20 (1,474 chars)".to_owned(),
        ),
        ("read_file", json!({}), big.clone(), "[read_file] read ? from line 1 (1,474 chars)".to_owned()),
        (
            "write_file",
            json!({"path": "a.rs", "content": "a\nb\nc"}),
            big.clone(),
            "[write_file] wrote to a.rs (3 lines)".to_owned(),
        ),
        ("write_file", json!({"path": "a.rs"}), big.clone(), "[write_file] wrote to a.rs (? lines)".to_owned()),
        (
            "search_files",
            json!({"pattern": "fn", "path": "src", "target": "files"}),
            format!("{{\"total_count\": 12}}{big}"),
            "[search_files] files search for 'fn' in src -> 12 matches".to_owned(),
        ),
        ("search_files", json!({}), big.clone(), "[search_files] content search for '?' in . -> ? matches".to_owned()),
        ("patch", json!({"path": "a.rs"}), big.clone(), "[patch] replace in a.rs (1,474 chars result)".to_owned()),
        (
            "browser_navigate",
            json!({"url": "https://x.y"}),
            big.clone(),
            "[browser_navigate] https://x.y (1,474 chars)".to_owned(),
        ),
        ("browser_click", json!({"ref": "@e5"}), big.clone(), "[browser_click] ref=@e5 (1,474 chars)".to_owned()),
        ("browser_snapshot", json!({}), big.clone(), "[browser_snapshot] (1,474 chars)".to_owned()),
        (
            "web_search",
            json!({"query": "rust"}),
            big.clone(),
            "[web_search] query='rust' (1,474 chars result)".to_owned(),
        ),
        (
            "web_extract",
            json!({"urls": ["u1", "u2", "u3"]}),
            big.clone(),
            "[web_extract] u1 (+2 more) (1,474 chars)".to_owned(),
        ),
        ("web_extract", json!({"urls": ["u1"]}), big.clone(), "[web_extract] u1 (1,474 chars)".to_owned()),
        (
            "delegate_task",
            json!({"goal": x(61)}),
            big.clone(),
            format!("[delegate_task] '{}...' (1,474 chars result)", x(57)),
        ),
        (
            "execute_code",
            json!({"code": format!("a\nb{}", x(60))}),
            big.clone(),
            format!("[execute_code] `a b{}...` (1 lines output)", x(57)),
        ),
        ("skill_view", json!({"name": "n"}), big.clone(), "[skill_view] name=n (1,474 chars)".to_owned()),
        (
            "vision_analyze",
            json!({"question": x(60)}),
            big.clone(),
            format!("[vision_analyze] '{}' (1,474 chars)", x(50)),
        ),
        ("memory", json!({"action": "add", "target": "user"}), big.clone(), "[memory] add on user".to_owned()),
        ("todo", json!({}), big.clone(), "[todo] updated task list".to_owned()),
        ("clarify", json!({}), big.clone(), "[clarify] asked user a question".to_owned()),
        ("text_to_speech", json!({}), big.clone(), "[text_to_speech] generated audio (1,474 chars)".to_owned()),
        ("cronjob", json!({"action": "list"}), big.clone(), "[cronjob] list".to_owned()),
        ("process", json!({"action": "poll", "session_id": "p1"}), big.clone(), "[process] poll session=p1".to_owned()),
        (
            "my_tool",
            json!({"a": x(50), "b": 2, "c": 3}),
            big.clone(),
            format!("[my_tool] a={} b=2 (1,474 chars result)", x(40)),
        ),
        ("my_tool", json!([1]), big.clone(), "[my_tool] (1,474 chars result)".to_owned()),
    ] {
        assert_eq!(line(tool, arguments, &output), expect);
    }
}

#[test]
fn an_unknown_call_still_gives_a_line() {
    let pruned = prune(&[result("nobody", &"x".repeat(201))], 0, None);
    assert_eq!(pruned.messages[0].text(), "[unknown] (201 chars result)");
    let bad = [call_of("a", "terminal", "{not json"), result("a", &"x".repeat(201))];
    assert_eq!(prune(&bad, 0, None).messages[1].text(), "[terminal] ran `` -> exit ?, 1 lines output");
}

#[test]
fn short_outputs_and_notes_stay() {
    for text in ["x".repeat(200), DUPLICATE.to_owned(), "[Old tool output cleared to save context space]".to_owned()] {
        let messages = [result("a", &text)];
        let pruned = prune(&messages, 0, None);
        assert_eq!(pruned.count, 0);
        assert!(pruned.messages[0].same(&messages[0]));
    }
}

#[test]
fn the_newest_of_equal_outputs_stays_also_in_the_tail() {
    let text = "y".repeat(200);
    let escaped =
        Message::parse(format!(r#"{{"role":"tool","tool_call_id":"c","content":"\u0079{}"}}"#, "y".repeat(199)))
            .unwrap();
    let messages = [result("a", &text), result("b", &text), escaped, result("d", &"y".repeat(199)), say("user", &text)];
    let pruned = prune(&messages, 5, None);
    assert_eq!(pruned.count, 2);
    assert_eq!(pruned.messages[0].text(), DUPLICATE);
    assert_eq!(pruned.messages[1].text(), DUPLICATE);
    assert!(pruned.messages[2..].iter().zip(&messages[2..]).all(|(a, b)| a.same(b)));
}

#[test]
fn two_equal_outputs_are_enough() {
    let text = "y".repeat(200);
    let pruned = prune(&[result("a", &text), result("b", &text)], 2, None);
    assert_eq!((pruned.count, &*pruned.messages[0].text()), (1, DUPLICATE));
    let near = format!("{}z", "y".repeat(199));
    assert_eq!(prune(&[result("a", &text), result("b", &near)], 2, None).count, 0);
}

#[test]
fn images_of_tools_go() {
    let with_image =
        message(&json!({"role": "tool", "tool_call_id": "a", "content": [image(), {"type": "text", "text": "t"}]}));
    let without = message(&json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "t"}]}));
    let multimodal = message(
        &json!({"role": "tool", "tool_call_id": "a", "content": {"_multimodal": true, "text_summary": "s".repeat(300), "content": [image()]}}),
    );
    let empty = message(&json!({"role": "tool", "tool_call_id": "a", "content": {"_multimodal": true}}));
    let pruned = prune(&[with_image, without, multimodal, empty], 0, None);
    assert_eq!(pruned.count, 3);
    assert_eq!(pruned.messages[0].text(), format!("{SCREENSHOT}\nt"));
    assert_eq!(pruned.messages[2].text(), format!("[screenshot removed] {}", "s".repeat(200)));
    assert_eq!(pruned.messages[3].text(), SCREENSHOT);
}

#[test]
fn arguments_shrink_to_valid_json_in_order() {
    let long = "é".repeat(600);
    let cut = format!("{}...[truncated]", "é".repeat(200));
    for (arguments, expect) in [
        (
            json!({"z": long, "a": [1, {"b": long}], "n": null, "s": "short"}).to_string(),
            Some(json!({"z": cut, "a": [1, {"b": cut}], "n": null, "s": "short"}).to_string()),
        ),
        (json!(long).to_string(), Some(json!(cut).to_string())),
        ("not json".to_owned(), None),
        (json!({"a": "x".repeat(200)}).to_string(), None),
    ] {
        assert_eq!(shrink_arguments(&arguments), expect);
    }
    let arguments = json!({"content": long, "path": "p"}).to_string();
    let raw = format!(
        r#"{{"tool_calls" : [{{"function": {{"arguments": {},"name":"w"}}, "id":"a"}}],  "role":"assistant"}}"#,
        json!(arguments)
    );
    let messages = [Message::parse(raw.clone()).unwrap(), say("user", "x")];
    let pruned = prune(&messages, 0, None);
    let expect = raw.replace(&json!(arguments).to_string(), &json!(shrink_arguments(&arguments).unwrap()).to_string());
    assert_eq!(pruned.messages[0].raw(), expect, "everything else keeps its text");
    assert_ne!(expect, raw);
}

#[test]
fn the_tail_is_protected() {
    let messages = list(&"cT".repeat(10));
    assert_eq!(prune(&[], 3, None).count, 0);
    assert_eq!(prune(&messages, 20, None).count, 0, "the floor is the whole list");
    assert_eq!(prune(&messages, 2, Some(1_000_000)).count, 0, "a huge budget prunes nothing");
    assert_eq!(prune(&messages, 4, None).count, 8);
    assert_eq!(prune(&messages, 4, Some(0)).count, 8);
    let within = prune(&messages, 4, Some(3_100));
    assert_eq!(within.count, 6, "the message that overflows is still protected");
}

#[test]
fn shrunk_arguments_keep_numbers_keys_and_spacing() {
    let long = "x".repeat(600);
    let key = "k".repeat(300);
    let arguments = format!(r#"{{"n": 12345678901234567890123, "f":1.10,"{key}" : 1E5, "t":["{long}", "é\u00e9"]}}"#);
    let cut = format!("{}...[truncated]", "x".repeat(200));
    assert_eq!(shrink_arguments(&arguments), Some(arguments.replace(&long, &cut)));
    assert_eq!(shrink_arguments(&format!("{{\"t\":\"{long}")), None);
}

#[test]
fn of_two_calls_with_one_id_each_result_names_its_own() {
    let calls = r#"{"role":"assistant","content":null,"tool_calls":[
        {"id":"same","function":{"name":"read_file","arguments":"{\"path\":\"A\"}"}},
        {"id":"same","function":{"name":"read_file","arguments":"{\"path\":\"B\"}"}}]}"#;
    let result = format!(r#"{{"role":"tool","tool_call_id":"same","content":"{}"}}"#, "y ".repeat(150));
    let other = result.replace('y', "z");
    let list: Vec<Message> = [calls, &result, &other, r#"{"role":"user","content":"u"}"#]
        .iter()
        .map(|raw| Message::parse(*raw).unwrap())
        .collect();
    let pruned = prune(&list, 1, None).messages;
    let lines: Vec<String> = pruned[1..3].iter().map(|message| message.text().into_owned()).collect();
    assert!(lines[0].contains("read A") && lines[1].contains("read B"), "{lines:?}");
}
