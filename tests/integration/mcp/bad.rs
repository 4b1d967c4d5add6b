//! Mistakes of clients and models.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Mcp};
use serde_json::{Value, json};

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for (tool, arguments, words) in [
        ("recall_search", json!({}), "query"),
        ("recall_search", json!({ "query": 5 }), "query"),
        ("recall_search", json!({ "query": "x", "limit": 1000 }), "limit"),
        ("recall_search", json!({ "query": "x", "kind": ["output"] }), "kinds"),
        ("recall_search", json!({ "query": "x", "kinds": ["notes"] }), "kinds"),
        ("recall_search", json!({ "query": "x", "profile": "other" }), "profile"),
        ("recall_expand", json!({ "handle": "msg_nothing" }), "not_found"),
        ("recall_describe", json!({ "session": 5 }), "session"),
        ("output_read", json!({ "handle": "out_0" }), "not_found"),
        ("output_read", json!({ "path": "/etc/passwd" }), "error"),
        ("output_read", json!({ "handle": "out_0", "idempotency_key": "k" }), "idempotency_key"),
        ("output_search", json!({ "query": "(", "regex": true }), "query"),
        ("admit_output", json!({}), "content"),
        ("admit_output", json!({ "content": 5 }), "string"),
        ("admit_output", json!({ "content": "x", "session": "another" }), "session"),
    ] {
        let (failed, told) = mcp.tool(tool, &arguments);
        assert!(failed && told.to_string().contains(words), "{tool} {arguments}: {told}");
    }
}

#[test]
fn wrong_requests_are_errors_of_the_protocol() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for (method, params, code) in [
        ("tools/call", json!({ "name": "forget", "arguments": {} }), -32602),
        ("tools/call", json!({ "name": "memory", "arguments": ["add"] }), -32602),
        ("tools/call", json!({ "arguments": {} }), -32602),
        ("resources/read", json!({ "uri": "herma://store/disk" }), -32002),
        ("resources/read", json!({}), -32602),
        ("resources/subscribe", json!({ "uri": "file:///etc/passwd" }), -32002),
        ("prompts/get", json!({ "name": "other" }), -32602),
        ("tools/forget", json!({}), -32601),
        ("memory.add", json!({ "target": "user", "content": "x" }), -32601),
    ] {
        let reply = mcp.call(method, &params);
        assert_eq!(reply["error"]["code"], json!(code), "{method} {params}: {reply}");
        assert!(!reply["error"]["message"].as_str().unwrap().is_empty(), "{reply}");
    }
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
}

#[test]
fn junk_between_the_lines_disturbs_nothing() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for junk in ["", "junk", "{", "\u{0}", "\"text\"", "{\"jsonrpc\":\"2.0\"}", &"[".repeat(500)] {
        mcp.line(junk);
    }
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
    let told = mcp.told();
    assert_eq!(told.len(), 6, "each but the empty one is answered: {told:?}");
    for told in told {
        let code = told["error"]["code"].as_i64().unwrap();
        assert!(told["id"].is_null() && [-32_700, -32_600].contains(&code), "{told}");
    }
    assert_eq!(mcp.end(), (Some(0), String::new()));
}

#[test]
fn every_request_is_answered_under_its_id() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let mut lines: Vec<Vec<u8>> = [
        r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":[1]}"#,
        r#"{"jsonrpc":"1.0","id":ID,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"method":"ping","params":NESTED}"#,
        r#"{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"#,
        r#"{"jsonrpc":"2.0","id":ID,"method":["ping"]}"#,
    ]
    .map(|line| line.replace("NESTED", &nested).into_bytes())
    .to_vec();
    lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}".to_vec());
    // The id comes after a text that is longer than any line may be.
    let mut long = b"{\"method\":\"tools/call\",\"params\":{\"x\":\"".to_vec();
    long.resize(70 << 20, b'a');
    long.extend_from_slice(b"\"},\"jsonrpc\":\"2.0\",\"id\":ID}");
    lines.push(long);
    for (number, line) in (1_000..).zip(lines) {
        let at = line.windows(2).rposition(|bytes| bytes == b"ID").unwrap();
        mcp.bytes(&[&line[..at], number.to_string().as_bytes(), &line[at + 2..], b"\n"].concat());
        let answer = mcp.answer(number);
        assert!(answer["error"]["code"].is_i64() && answer["error"]["message"].is_string(), "{answer}");
    }
    mcp.line(r#"[{"jsonrpc":"2.0","id":2000,"method":"ping"},{"jsonrpc":"2.0","id":2001,"method":"ping"}]"#);
    let answers = mcp.notification();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(2000), &json!(2001)], "{answers}");
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
}

#[test]
fn half_a_character_is_replaced_and_the_model_is_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    let arguments = r#"{"action":"add","target":"user","content":"party \ud83c"}"#;
    mcp.line(&format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"memory","arguments":{arguments}}}}}"#
    ));
    let result = mcp.answer(77)["result"].take();
    assert_eq!(herma_tests::mcp::content(&result).1["entries"], json!(["party \u{fffd}"]), "{result}");
    assert!(result["content"][1]["text"].as_str().unwrap().contains("U+FFFD"), "{result}");
    assert!(result["_meta"]["warnings"][0].as_str().unwrap().contains("U+FFFD"), "{result}");
    let whole = mcp.result(
        "tools/call",
        &json!({ "name": "memory", "arguments": { "action": "add", "target": "user", "content": "🎉" } }),
    );
    assert!(whole["content"].as_array().unwrap().len() == 1 && whole["_meta"].is_null(), "{whole}");
    assert_eq!(home.entries(Target::User), ["party \u{fffd}", "🎉"]);
    drop(daemon);
}

#[test]
fn input_that_ends_at_once_is_a_client_that_went_away() {
    let home = Home::new();
    assert_eq!(Mcp::start(&home, &[]).end(), (Some(0), String::new()));
    assert!(!home.socket().exists());
}
